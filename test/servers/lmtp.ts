import { connect, type Socket } from 'node:net'

/** Hands mails to an LMTP server over one connection, one after another. Throws with the server's words on a refusal. */
export async function lmtpDeliver(target: { host: string; port: number }, recipient: string, mails: Iterable<Buffer>) {
  const socket = connect(target)
  socket.setTimeout(30_000, () => socket.destroy(new Error('the LMTP server does not answer')))
  const reply = replies(socket)
  const ask = async (command: string | Buffer, expected: string) => {
    socket.write(command)
    const line = await reply()
    if (!line.startsWith(expected)) throw new Error(`LMTP answered "${line}"`)
  }
  try {
    await reply()
    await ask('LHLO test.example\r\n', '250')
    for (const mail of mails) {
      await ask('MAIL FROM:<sender@example.test>\r\n', '250')
      await ask(`RCPT TO:<${recipient}>\r\n`, '250')
      await ask('DATA\r\n', '354')
      await ask(dotStuffed(mail), '250')
    }
    socket.write('QUIT\r\n')
  } finally {
    socket.destroy()
  }
}

function dotStuffed(mail: Buffer): Buffer {
  const text = mail.toString('latin1').replace(/^\./gm, '..')
  return Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1')
}

/** The next complete reply (its last line), in order; rejects when the connection ends. */
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
    failure ??= error ?? new Error('the LMTP server hung up')
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
