#!/bin/sh
# Answers the request on standard input, whatever it asks for (/generate_204, /hotspot-detect.html), with the page.
set -eu
end=$(printf '\r')
while read -r line && [ "$line" ] && [ "$line" != "$end" ]; do :; done
read -r page <"${1:-/run/moccasin-mat-card/portal}"
printf 'HTTP/1.1 302 Found\r\nLocation: %s\r\nCache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$page"
