import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { closing } from '../kit/closing.ts'
import { administer } from '../kit/database/postgres-server.ts'
import { eventually } from '../kit/eventually.ts'
import { freePort } from '../servers/free-port.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const BLOCKS = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

/** Every shell block, in order. A new one needs a run below. */
const [DEMO = '', TEST = '', DEMO_VARIANTS = '', START = '', LISTEN = '', TRIGGER = '', CONNECT = ''] = BLOCKS
const [SESSION = '', ENDPOINT = '', FORWARD = '', ENV = '', PRODUCTION = ''] = BLOCKS.slice(7)

interface Running {
  child: ChildProcess
  output(): string
  /** Ends the command as Ctrl-C does. Returns its exit code; null for npx, which repeats the signal. */
  interrupt(): Promise<number | null>
}

describe('the commands of the README, in a clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-readme-'))
  const clone = join(folder, 'posthorn')
  let port: number
  beforeAll(async () => {
    port = await freePort()
    makeClone(folder, clone)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs a block verbatim, except that the service has a port of its own, because 8080 may be in use. */
  function shell(block: string): Running {
    const script = block.replaceAll('localhost:8080', `localhost:${port}`)
    const child = spawn('bash', ['-euc', script], {
      cwd: clone,
      detached: true,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        HOME: folder,
        TMPDIR: folder,
        PORT: String(port),
        CI: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const signal = (name: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), name)
    }
    closing({ close: async () => signal('SIGKILL') })
    return {
      child,
      output: () => output,
      async interrupt() {
        signal('SIGINT')
        return finished(child)
      },
    }
  }

  async function finished(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    return child.exitCode
  }

  /** Runs a block to its end and returns its output. */
  async function run(block: string): Promise<string> {
    const command = shell(block)
    const code = await finished(command.child)
    expect(code, command.output()).toBe(0)
    return command.output()
  }

  async function ready(service: Running): Promise<void> {
    await eventually(async () => {
      if (service.child.exitCode !== null) return
      expect((await fetch(`http://localhost:${port}/health/ready`)).status).toBe(200)
    })
    expect(service.child.exitCode, service.output()).toBe(null)
  }

  it('has a run for every shell block', () => {
    expect(BLOCKS).toHaveLength(12)
    expect([DEMO, TEST]).toEqual(['npm ci && npm run demo\n', 'npm ci && npm test\n'])
    for (const [block, contained] of [
      [DEMO_VARIANTS, '-- --once'],
      [START, 'npm start'],
      [LISTEN, 'listen\n'],
      [TRIGGER, 'trigger'],
      [CONNECT, 'posthorn connect\n'],
      [SESSION, '/auth/sessions'],
      [ENDPOINT, '/webhooks/endpoints'],
      [FORWARD, '--forward'],
      [ENV, '.env'],
      [PRODUCTION, 'npm start'],
    ] as const) {
      expect(block).toContain(contained)
    }
  })

  it('begins with what it is, the two commands and one picture', () => {
    const first = README.slice(0, README.indexOf('\n## '))
    expect(first.match(/^```sh\n.+\n```$/gm)).toHaveLength(2)
    expect(first.match(/^```sh$/gm)).toHaveLength(2)
    expect(first.match(/!\[/g)).toHaveLength(1)
  })

  it('names only scripts of the project', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const named = [...README.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('show the page of the demo, and run it without a browser and with a provider', async () => {
    const demo = shell(DEMO)
    const findUrl = (running: Running) =>
      eventually(() => {
        const [, url] = /click "Connect a mailbox":\s+(http\S+)/.exec(running.output()) ?? []
        expect(url, running.output()).toBeDefined()
        return url
      })
    expect(await (await fetch(String(await findUrl(demo)))).text()).toContain('Connect a mailbox')
    expect(await demo.interrupt()).toBe(0)
    const variants = shell(DEMO_VARIANTS)
    expect(await (await fetch(String(await findUrl(variants)))).text()).toContain('ada@gmail.com')
    expect(variants.output()).toContain('Done: the application connected a mailbox')
    expect(await variants.interrupt()).toBe(0)
  })

  it('start the service, print the event that trigger causes, and answer each curl line', async () => {
    const service = shell(START)
    await ready(service)
    const received: string[] = []
    const application = createServer((request, response) => {
      received.push(`${request.method} ${request.url} ${request.headers['webhook-id']}`)
      response.writeHead(204).end()
    })
    closing({ close: async () => void application.close() })
    const hookPort = await new Promise<number>((done) => {
      application.listen(0, '127.0.0.1', () => done(Number(Object(application.address()).port)))
    })
    const forwarding = shell(FORWARD.replace('localhost:3000', `127.0.0.1:${hookPort}`))
    const listening = shell(LISTEN)
    await eventually(() => expect(listening.output()).toContain(`Showing events of http://localhost:${port}`))
    await eventually(() => expect(forwarding.output()).toContain('Forwarding events'))
    const [, eventId] = /^message\.received {2}(evt_\w+)$/m.exec(await run(TRIGGER)) ?? []
    await eventually(() => expect(listening.output()).toMatch(new RegExp(`message\\.received +${eventId} \\(test\\)`)))
    await eventually(() => expect(received).toEqual([`POST /hook ${eventId}`]))
    await Promise.all([listening.interrupt(), forwarding.interrupt()])

    const connecting = shell(CONNECT)
    const link = await eventually(() => {
      const [found = ''] = /http\S+\/auth\/authorize\?session=\S+/.exec(connecting.output()) ?? []
      expect(found, connecting.output()).not.toBe('')
      return found
    })
    expect(new URL(link).host).toBe(`localhost:${port}`)
    expect((await fetch(link)).status).toBe(200)
    await connecting.interrupt()

    const responses = parseResponses(await run(SESSION + ENDPOINT))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 201])
    const [session, accounts, endpoint] = responses.map(({ body }) => body)
    expect(session).toMatchObject({
      authUrl: expect.stringContaining(`http://localhost:${port}/auth/authorize?session=`),
    })
    expect((await fetch(String(session?.authUrl))).status).toBe(200)
    expect(accounts).toMatchObject({ accounts: [], pagination: { total: 0 } })
    expect(endpoint).toMatchObject({ isActive: true, secret: expect.stringMatching(/^whsec_/) })
    expect(await service.interrupt()).toBe(0)
  })

  describe.skipIf(inject('postgresUrl') === undefined)('on PostgreSQL', () => {
    it('write a private .env and start in production', async () => {
      const server = inject('postgresUrl') ?? ''
      closing({ close: () => administer(server, 'drop role if exists posthorn') })
      await administer(server, `create role posthorn login password 'secret'`)
      closing({ close: () => administer(server, 'drop database if exists posthorn with (force)') })
      await administer(server, 'create database posthorn owner posthorn')
      await run(ENV.replace('db.internal', new URL(server).host))
      expect(readMode(join(clone, '.env'))).toBe('600')
      const service = shell(PRODUCTION)
      await ready(service)
      const key = /^SERVICE_API_KEY=([0-9a-f]{64})$/m.exec(readFileSync(join(clone, '.env'), 'utf8'))?.[1]
      const headers = { authorization: `Bearer ${key}` }
      expect((await fetch(`http://localhost:${port}/accounts`, { headers })).status).toBe(200)
      const body = JSON.stringify({ redirectUri: 'https://app.example.com/connected' })
      const posted = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
      const session = await (await fetch(`http://localhost:${port}/auth/sessions`, posted)).json()
      expect(session).toMatchObject({ authUrl: expect.stringMatching('^https://mail.example.com/auth/authorize') })
      expect(service.output()).not.toContain('"level":"warn"')
      expect(await service.interrupt()).toBe(0)
    })
  })
})

/**
 * Clones the repository with its uncommitted changes. Packages and the build are those of the working tree, so `npm ci`
 * downloads nothing: the npm of the clone only records it. Each response of curl ends with its status.
 */
function makeClone(folder: string, clone: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  git('clone', '--quiet', '--depth=1', `file://${ROOT}`, clone)
  for (const file of git('ls-files', '-mo', '-z', '--exclude-standard').split('\0').filter(Boolean)) {
    const target = join(clone, file)
    mkdirSync(dirname(target), { recursive: true })
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), target)
    else rmSync(target, { force: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(clone, 'dist'), { recursive: true })
  const npm = execFileSync('bash', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\n[ "$1" = ci ] || exec ${npm} "$@"\n`)
  chmodSync(join(folder, 'bin/npm'), 0o755)
  writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nmax-time = 30\nwrite-out = "\\n%{http_code}\\n"\n')
}

/** The responses that curl printed: a body and a status, each on a line. */
function parseResponses(output: string): { status: number; body: Record<string, unknown> }[] {
  const lines = output.trim().split('\n')
  return Array.from({ length: lines.length / 2 }, (_, index) => {
    return { body: JSON.parse(lines[2 * index] ?? ''), status: Number(lines[2 * index + 1]) }
  })
}

function readMode(file: string): string {
  return execFileSync('stat', ['-c', '%a', file], { encoding: 'utf8' }).trim()
}
