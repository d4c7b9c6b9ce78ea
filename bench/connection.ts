import { connect, type Socket } from "node:net";
import type { Sent } from "./send";

export type Connection = { ask(sent: Sent): Promise<{ status: number; text: string }>; close(): void };

/**
 * One kept-alive connection, one request at a time, of the little HTTP/1.1 (RFC 9112) that our answers need. It costs the shared cores
 * a fraction of what a whole client does, so that what is measured is the server.
 */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port, host } = new URL(url);
  const socket = await opened(hostname, Number(port));
  let buffer = "";
  let settle: { resolve(answer: { status: number; text: string }): void; reject(error: Error): void } | undefined;
  const fail = (error: Error) => {
    settle?.reject(error);
    settle = undefined;
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed the connection")));
  // Latin-1: one character a byte, as Content-Length counts.
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    buffer += chunk;
    const answer = readAnswer(buffer);
    if (!answer || !settle) return;
    buffer = "";
    const { resolve } = settle;
    settle = undefined;
    resolve(answer);
  });
  return {
    ask: (sent) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(requestText(sent, host));
      }),
    close: () => socket.destroy(),
  };
}

function opened(hostname: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port, noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function requestText({ method, url, headers = {}, body = "" }: Sent, host: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === "GET" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${lines.join("")}${length}\r\n${body}`;
}

/** The whole answer, or undefined while a part of it is still to come. */
function readAnswer(buffer: string): { status: number; text: string } | undefined {
  const headEnd = buffer.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = buffer.slice(0, headEnd);
  const status = Number(head.slice(9, 12));
  const text = buffer.slice(headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length >= Number(length) ? { status, text } : undefined;
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return text.endsWith("0\r\n\r\n") ? { status, text } : undefined;
  return { status, text };
}
