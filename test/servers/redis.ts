import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { freePort } from './free-port.ts'

/** Debian's redis-server on a loopback port, without persistence. A restart empties it. */
export interface RedisServerProcess {
  /** Contains the password, which must never appear in a log. */
  url: string
  password: string
  certificateFile: string
  /** Sends SIGTERM. Connections close, and new ones are refused. */
  stop(): Promise<void>
  /** Starts empty on the same port, or does nothing when running. Default password: that of the URL. */
  start(password?: string): Promise<void>
  /** SIGSTOP and SIGCONT. While frozen, connections stay open without responses. */
  freeze(): void
  thaw(): void
  /** Stops the server and removes its folder. */
  close(): Promise<void>
}

const BINARY = '/usr/bin/redis-server'
const PASSWORD = 'redis-Passw0rd:with@signs'
const START_MS = 20_000

export const hasRedis = existsSync(BINARY)

/** With `tls` it accepts only TLS, with the self-signed certificate in `certificateFile`. */
export async function startRedis({ tls = false } = {}): Promise<RedisServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-redis-'))
  const port = await freePort()
  const certificateFile = join(folder, 'cert.pem')
  const listening = tls ? await tlsSettings(folder, certificateFile, port) : ['--port', String(port)]
  let child: ChildProcess | undefined
  const stop = async () => {
    const ending = child
    child = undefined
    if (ending === undefined || ending.exitCode !== null) return
    const exited = once(ending, 'exit')
    ending.kill('SIGCONT')
    ending.kill('SIGTERM')
    await exited
  }
  const start = async (password = PASSWORD) => {
    child ??= await launch(folder, listening, password)
  }
  // An aborted test run must not leave a server behind.
  const killAtExit = () => void child?.kill('SIGKILL')
  process.once('exit', killAtExit)
  await start()
  return {
    url: `${tls ? 'rediss' : 'redis'}://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
    password: PASSWORD,
    certificateFile,
    stop,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async close() {
      process.off('exit', killAtExit)
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function launch(folder: string, listening: readonly string[], password: string): Promise<ChildProcess> {
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--requirepass', password]
  const child = spawn(BINARY, [...listening, '--dir', folder, ...settings], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    let output = ''
    const limit = setTimeout(() => reject(new Error(`redis-server did not start: ${output}`)), START_MS)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4096)
      if (!output.includes('Ready to accept connections')) return
      clearTimeout(limit)
      resolve()
    })
  })
  return child
}

async function tlsSettings(folder: string, certificateFile: string, port: number): Promise<string[]> {
  const keyFile = join(folder, 'key.pem')
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  await writeFile(certificateFile, cert)
  await writeFile(keyFile, key)
  const files = ['--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certificateFile]
  return ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no']
}
