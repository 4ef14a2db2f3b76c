"""How much a recording takes, on disk and of the processor, on the simulated mat.

python tests/recording/measure_recording.py [--conditions quiet|drums] [--seed N]
"""

import argparse
import io
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from pi_controller.board.messages import Field, Piezo, Touch
from pi_controller.recording.format import Header, pack, settings_as_json
from pi_controller.recording.recorder import Recorder
from pi_controller.recording.store import Recording, RecordingWriter
from pi_controller.rules import registry
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.simulation import Simulation


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conditions", default="quiet")
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.sensors"
        game = registry.game("dakota", {"points": "1"})
        conditions = Conditions.from_name(args.conditions)
        with Simulation(args.seed, Path(folder) / "j.sqlite", game, conditions=conditions) as table:
            recorder = Recorder(
                RecordingWriter(path, Header(0.0, strikes=settings_as_json(StrikeSettings()))), table.daemon.table
            )
            table.daemon.observers.append(recorder)
            table.play()
            recorder.close()
            seconds = table.t
        entries = list(Recording(path).entries())
        size = path.stat().st_size
    piezo = [entry for entry in entries if isinstance(entry, Piezo)]
    touch = [entry.counts for entry in entries if isinstance(entry, Touch)]
    field = [np.rint(entry.ut * 30).astype(np.int16) for entry in entries if isinstance(entry, Field)]
    samples = np.concatenate([entry.samples for entry in piezo])
    alone = len(pack(piezo, 30.0))
    cpu = time.process_time()
    for at in range(0, len(entries), 200):
        pack(entries[at : at + 200], 30.0)
    cpu = time.process_time() - cpu
    npz = io.BytesIO()
    np.savez_compressed(npz, piezo=samples, touch=np.stack(touch), field=np.stack(field))
    raw = samples.nbytes + np.stack(touch).nbytes + np.stack(field).nbytes
    print(f"{args.conditions}, {seconds:.0f} s of a simulated game, {samples.size} strike samples")
    print(f"recording        {size:>9} bytes, {size / seconds * 3600 / 1e6:.0f} MB an hour")
    print(f"strike samples   {alone:>9} bytes, {alone / samples.size:.2f} a sample")
    print(f"as 16-bit counts {raw:>9} bytes, without any times (a WAV for the strikes, and the rest beside it)")
    zipped = sum(len(zlib.compress(kind.tobytes())) for kind in (samples, np.stack(touch), np.stack(field)))
    print(f"the same, zlib   {zipped:>9} bytes")
    print(f"npz, compressed  {len(npz.getvalue()):>9} bytes")
    print(f"packing took {100 * cpu / seconds:.2f} % of one core of this machine")


if __name__ == "__main__":
    main()
