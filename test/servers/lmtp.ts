import { connect, type Socket } from 'node:net'

/** Delivers messages over one LMTP connection, in order. Throws the server's reply when it rejects one. */
export async function lmtpDeliver(
  target: { host: string; port: number },
  recipient: string,
  messages: Iterable<Buffer>,
) {
  const socket = connect(target)
  socket.setTimeout(300_000, () => socket.destroy(new Error('The LMTP server does not respond.')))
  const reply = replies(socket)
  const send = async (command: string | Buffer, expected: string) => {
    socket.write(command)
    const line = await reply()
    if (!line.startsWith(expected)) throw new Error(`The LMTP server replied "${line}".`)
  }
  try {
    await reply()
    await send('LHLO test.example\r\n', '250')
    for (const message of messages) {
      await send('MAIL FROM:<sender@example.test>\r\n', '250')
      await send(`RCPT TO:<${recipient}>\r\n`, '250')
      await send('DATA\r\n', '354')
      await send(dotStuffed(message), '250')
    }
    socket.write('QUIT\r\n')
  } finally {
    socket.destroy()
  }
}

function dotStuffed(message: Buffer): Buffer {
  const text = message.toString('latin1').replace(/^\./gm, '..')
  return Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1')
}

/** Returns a reader of replies: the last line of each, in order. Rejects when the connection ends. */
function replies(socket: Socket): () => Promise<string> {
  const ready: string[] = []
  let waiting: { resolve(line: string): void; reject(error: Error): void } | undefined
  let failure: Error | undefined
  let rest = ''
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter((text) => text[3] !== '-')) {
      if (waiting === undefined) ready.push(line)
      else waiting.resolve(line)
      waiting = undefined
    }
  })
  const fail = (error?: Error) => {
    failure ??= error ?? new Error('The LMTP server closed the connection.')
    waiting?.reject(failure)
  }
  socket.on('error', fail)
  socket.on('close', () => fail())
  return () =>
    new Promise((resolve, reject) => {
      const line = ready.shift()
      if (line !== undefined) resolve(line)
      else if (failure !== undefined) reject(failure)
      else waiting = { resolve, reject }
    })
}
