/** Shows the progress of a long script on stderr: a bar in a terminal, otherwise a line at every tenth. */
const WIDTH = 30;

export interface Progress {
  /** `done` of the total. `note` follows the bar. */
  show(done: number, note?: string): void;
  end(): void;
}

export function startProgress(label: string, total: number, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? drawBar(label, total, stream) : writeTenths(label, total, stream);
}

function drawBar(label: string, total: number, stream: NodeJS.WriteStream): Progress {
  const show = (done: number, note = ""): void => {
    const filled = Math.round((WIDTH * done) / Math.max(total, 1));
    stream.write(`\r\x1b[K${label} [${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${done}/${total} ${note}`);
  };
  show(0);
  return { show, end: () => void stream.write("\r\x1b[K") };
}

function writeTenths(label: string, total: number, stream: NodeJS.WriteStream): Progress {
  let shown = 0;
  return {
    show: (done, note = "") => {
      const tenths = Math.floor((10 * done) / Math.max(total, 1));
      if (tenths <= shown) return;
      shown = tenths;
      stream.write(`${label} ${tenths * 10} % ${note}\n`);
    },
    end: () => undefined,
  };
}
