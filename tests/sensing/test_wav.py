"""Recordings read in every shape a recorder writes them, and the strikes told on standard output."""

import io
import json
import struct

import numpy as np
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.cli.sensors import mat_strikes as main
from pi_controller.errors import UsageError
from pi_controller.sensing.wav import WavReader


def sound(rate: int, channels: int, at: tuple[tuple[float, int], ...], seconds: float = 1.6) -> np.ndarray:
    """-1 to 1, shape (n, channels): faint noise and a stroke at each (time, pad)."""
    rng = np.random.default_rng(4)
    t = np.arange(round(seconds * rate)) / rate
    x = rng.normal(0, 1e-3, (len(t), channels))
    for when, pad in at:
        go = np.clip(t - when, 0, None)
        for k in range(channels):
            x[:, k] += (0.4 if k == pad - 1 else 0.008) * np.exp(-go / 0.01) * np.sin(2 * np.pi * 600 * go)
    return np.clip(x, -1, 0.9999)


def encoded(x: np.ndarray, width: int, floating: bool) -> bytes:
    if floating:
        return x.astype(f"<f{width}").tobytes()
    if width == 1:
        return (np.round(x * 127) + 128).astype(np.uint8).tobytes()
    if width == 3:
        wide = np.round(x * (2**23 - 1)).astype("<i4")
        return wide.reshape(-1, 1).view(np.uint8)[:, :3].tobytes()
    return np.round(x * (2 ** (8 * width - 1) - 1)).astype(f"<i{width}").tobytes()


def wav(x, rate, width=2, floating=False, extensible=False, extra=b"", size=None) -> bytes:
    channels, tag = x.shape[1], 3 if floating else 1
    align = channels * width
    fmt = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * align, align, 8 * width)
    if extensible:
        fmt += struct.pack("<HHIH", 22, 8 * width, 0, tag) + bytes.fromhex("000000001000800000aa00389b71")
    data = encoded(x, width, floating)
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(fmt)) + fmt + extra
    body += b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.fixture
def hear(tmp_path, capsys):
    """Return what the verb says of a recording: the strikes, and standard error without the file's name."""

    def run(data, *options):
        path = tmp_path / "x.wav"
        path.write_bytes(data)
        assert main([*options, str(path)]) == 0
        out, err = capsys.readouterr()
        return [json.loads(line) for line in out.splitlines()], err.replace(f"{path}: ", "")

    return run


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(("width", "floating"), [(1, False), (2, False), (3, False), (4, False), (4, True), (8, True)])
def test_every_kind_of_sample(hear, width, floating, extensible):
    lines, _ = hear(wav(sound(8000, 4, ((0.6, 2), (1.2, 4))), 8000, width, floating, extensible))
    assert [line["pad"] for line in lines] == [2, 4]
    for line, t in zip(lines, (0.6, 1.2), strict=True):
        assert line["t"] == pytest.approx(t, abs=0.002)
        assert t < line["decided"] < t + 0.006
        assert line["margin_db"] > 0


@pytest.mark.parametrize("width", [2, 3, 4])
def test_widths_agree_on_the_values(width):
    x = sound(8000, 2, ((0.2, 1),), 0.4)
    reader = WavReader(io.BytesIO(wav(x, 8000, width)), "x", pytest.fail)
    read = np.concatenate(list(reader.blocks(64)))
    np.testing.assert_allclose(read, x * 32768, atol=1.6)


@pytest.mark.parametrize("channels", [1, 2, 5, 8])
@pytest.mark.parametrize("rate", [2000, 4000, 8000, 11025, 16000, 22050, 44100, 48000, 96000][:: cases(2, 1)])
def test_every_rate_and_number_of_pads(hear, rate, channels):
    (line,), _ = hear(wav(sound(rate, channels, ((0.7, channels),), 1.0), rate))
    assert line["pad"] == channels
    assert line["t"] == pytest.approx(0.7, abs=0.002)
    assert line["t"] < line["decided"] < 0.708


def busy(rate: int) -> np.ndarray:
    """Strokes strong and faint, two pads at once, a step, a spike and a stretch of nothing."""
    x = sound(rate, 4, ((0.5, 2), (0.9, 4), (1.3, 1), (1.3016, 3)), 1.7)
    x[round(0.9 * rate) :] *= 0.3
    x[round(0.7 * rate), 1] += 0.5
    x[round(1.1 * rate) :, 2] += 0.02
    x[round(1.15 * rate) : round(1.2 * rate), 3] = 0.0
    return x


@pytest.mark.parametrize(("rate", "width"), [(4000, 2), (8000, 1), (8000, 3), (22050, 2)])
def test_file_cut_at_any_byte_reports_earlier_decisions(hear, rate, width):
    data = wav(busy(rate), rate, width)
    whole, _ = hear(data)
    assert len(whole) >= 3

    @given(st.integers(60, len(data)))
    @settings(max_examples=cases(12, 25), deadline=None)
    def cut(at: int) -> None:
        frames = max(0, at - 44) // (4 * width)
        assert hear(data[:at])[0] == [line for line in whole if line["decided"] * rate <= frames + 0.01]

    cut()


def test_options_of_the_verb_reach_the_detector(hear):
    data = wav(sound(8000, 4, ((0.6, 4),)), 8000)
    ((line,), _), ((slower,), _) = hear(data), hear(data, "--sensor", "fsr")
    assert slower["pad"] == 4
    assert slower["decided"] > line["decided"] + 0.001
    assert hear(data, "--reference")[0] == []  # the frame is never struck
    with pytest.raises(UsageError, match="sensor"):
        hear(data, "--sensor", "foil")


def test_knocks_in_turn_show_swapped_pads(tmp_path, capsys):
    path = tmp_path / "x.wav"
    path.write_bytes(wav(sound(8000, 3, ((0.6, 1), (1.0, 3), (1.4, 2)), 1.8), 8000))
    assert main([str(path), "--knocked", "1,3,2"]) == 0
    assert capsys.readouterr().err == ""
    assert main([str(path), "--knocked", "1,2,3"]) == 2
    assert [line.split(": ", 1)[1] for line in capsys.readouterr().err.splitlines()] == [
        "pad 2: felt as pad 3.",
        "pad 3: felt as pad 2.",
    ]
    for wrong in ("", "0", "a,b", "1,9"):
        with pytest.raises(UsageError, match="knocked"):
            main([str(path), "--knocked", wrong])


def test_faulty_channel_is_reported_once_and_others_judged(hear):
    x = sound(8000, 4, ((4.0, 1),), 5.0)
    x[:, 2] = 0.0
    lines, err = hear(wav(x, 8000))
    assert [line["pad"] for line in lines] == [1]
    assert err == "pad 3 is silent.\n"


def test_each_pad_of_strike_has_own_onset(hear):
    (line,), _ = hear(wav(sound(8000, 4, ((0.6, 3), (0.602, 1))), 8000))
    assert line["pads"] == [3, 1]
    assert line["onsets"] == pytest.approx([0.6, 0.602], abs=0.001)
    assert line["t"] == line["onsets"][0]


ONE = sound(8000, 1, ((0.6, 1),))
CHUNK = b"LIST" + struct.pack("<I", 7) + b"abcdefg"


@pytest.mark.parametrize(
    ("data", "pads", "says"),
    [
        (wav(sound(8000, 4, ((0.6, 2), (1.2, 4))), 8000)[: 44 + 8000 * 8 + 5], [2], "ends early"),
        (wav(ONE, 8000, size=0), [1], ""),
        (wav(ONE, 8000, size=0xFFFFFFFF), [1], ""),
        (wav(ONE, 8000, extra=CHUNK + b"\0") + CHUNK + b"\0" + b"\x7f\x80" * 4000, [1], ""),
        (wav(ONE, 8000, extra=CHUNK), [1], ""),
        (wav(ONE, 8000) + wav(ONE, 8000)[36:], [1], "only the first"),
        (wav(np.zeros((0, 4)), 8000), [], ""),
    ],
    ids=["truncated", "size 0", "size unknown", "other chunks", "odd chunk without its pad", "second", "no samples"],
)
def test_strange_files_are_read_as_far_as_they_go(hear, data, pads, says):
    lines, err = hear(data)
    assert [line["pad"] for line in lines] == pads
    assert (says in err, len(err.splitlines())) == (True, bool(says))


def test_samples_that_are_no_numbers_count_as_rest(hear):
    x = sound(8000, 2, ((1.0, 2),))
    x[3000, 0], x[3100, 1] = np.nan, np.inf
    lines, err = hear(wav(x, 8000, 4, True))
    assert [line["pad"] for line in lines] == [2]
    assert "not numbers" in err


def test_a_pipe_does_as_well(monkeypatch, capsys):
    class Pipe(io.BytesIO):
        def read(self, size: int | None = -1):
            return super().read(min(size, 37) if size is not None and size > 0 else size)

    class Stdin:
        buffer = Pipe(wav(sound(8000, 1, ((0.6, 1),)), 8000))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert main(["-"]) == 0
    assert json.loads(capsys.readouterr().out)["pad"] == 1


SOUND = np.zeros((800, 1))
BAD = {
    "empty": b"",
    "text": b"hello, this is no sound at all",
    "header only": wav(SOUND, 8000)[:20],
    "no data": wav(SOUND, 8000)[:36],
    "data before format": b"RIFF\x10\0\0\0WAVEdata\x04\0\0\0\0\0\0\0",
    "nine channels": wav(np.zeros((10, 9)), 8000),
    "too slow": wav(SOUND, 500),
    "no channels": wav(SOUND, 8000).replace(b"\x01\0\x01\0", b"\x01\0\0\0", 1),
    "a-law": wav(SOUND, 8000, 1).replace(b"\x01\0\x01\0", b"\x06\0\x01\0", 1),
    "half floats": wav(SOUND, 8000, 2).replace(b"\x01\0\x01\0", b"\x03\0\x01\0", 1),
}


@pytest.mark.parametrize("kind", sorted(BAD))
def test_invalid_recording_is_refused_in_two_lines(tmp_path, capsys, kind):
    path = tmp_path / "x.wav"
    path.write_bytes(BAD[kind])
    with pytest.raises(UsageError) as error:
        main([str(path)])
    assert len(error.value.message.splitlines()) == len(error.value.hint.splitlines()) == 1
    assert str(path) in error.value.message
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("argv", [[], ["a.wav", "b.wav"], ["--set"], ["no/such.wav"], ["."], ["nul\0.wav"]])
def test_arguments_that_will_not_do(argv):
    with pytest.raises(UsageError):
        main(argv)
