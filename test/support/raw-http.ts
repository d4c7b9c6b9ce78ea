import { connect } from "node:net";

export type RawAnswer = { status: number; head: string[]; body: string };

/**
 * Sends these bytes to 127.0.0.1 and reads until the other side ends the connection: what no HTTP library would send. The answers, in the
 * order of their requests; a chunked body keeps its framing.
 */
export async function sendRaw(port: number, text: string): Promise<RawAnswer[]> {
  const received = await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end of the answer to ${JSON.stringify(text)}`)));
  });
  return received.split(/(?=HTTP\/1\.1 \d{3} )/).map(readAnswer);
}

function readAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...head] = text.slice(0, end).split("\r\n");
  return { status: Number(statusLine.split(" ")[1]), head: head.sort(), body: text.slice(end + 4) };
}
