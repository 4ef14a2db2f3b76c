"""The unattended installation of a cultural centre: visitors play against the mat or against each other."""
