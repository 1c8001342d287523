import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { closing } from '../../test/kit/closing.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { freePort } from '../../test/servers/free-port.ts'
import { listening } from '../../test/servers/listener.ts'
import { VERSION } from '../app/version.ts'

const ENTRY = new URL('../../dist/posthorn.js', import.meta.url).pathname
const RECORD = /^\d\d:\d\d:\d\d (trace|debug|info |warn |error|fatal) {2}\S/

describe('posthorn start', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-start-'))
    // After the processes of the test have ended, unlike afterEach.
    closing({ close: async () => rmSync(folder, { recursive: true, force: true }) })
  })

  /** Starts the service in an empty folder; on a terminal, which `script` (util-linux) emulates, or with a pipe. */
  function start(environment: Record<string, string>, { terminal }: { terminal: boolean }) {
    const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', NO_COLOR: '1', ...environment }
    const [command = '', ...args] = terminal
      ? ['script', '-qefc', `exec '${process.execPath}' '${ENTRY}' start`, '/dev/null']
      : [process.execPath, ENTRY, 'start']
    const child: ChildProcess = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const running = {
      out: '',
      error: '',
      ended: once(child, 'close').then(() => child.exitCode),
      closeOutput: () => child.stdout?.destroy(),
      lines: () => running.out.split(/\r?\n/).filter((line) => line !== ''),
      async stop() {
        child.kill('SIGTERM')
        await running.ended
      },
    }
    child.stdout?.on('data', (chunk) => {
      running.out += chunk
    })
    child.stderr?.on('data', (chunk) => {
      running.error += chunk
    })
    closing({ close: running.stop })
    return running
  }

  it('prints a banner and one line of text per record on a terminal, without the key', async () => {
    const service = start({}, { terminal: true })
    await eventually(() => expect(service.out).toContain('Press Ctrl-C to stop.'))
    const url = /accepts requests at (\S+)\.\r?$/m.exec(service.out)?.[1]
    const lines = service.lines()
    const title = lines.indexOf(`  Posthorn ${VERSION}`)
    for (const line of lines.slice(0, title)) expect(line).toMatch(RECORD)
    expect(lines.slice(title + 1, title + 7)).toEqual([
      `  API      ${url}`,
      '  API key  in ./data/service-api-key',
      `  Docs     ${url}/docs`,
      `  Portal   ${url}/admin`,
      '  Sign-in  user admin, password in ./data/admin-password',
      '  Data     in ./data',
    ])
    expect(service.out).not.toContain('phk_')
    expect(service.out).not.toContain(readFileSync(join(folder, 'data/admin-password'), 'utf8').trim())
    expect(lines.filter((line) => line.includes('database'))).toEqual([expect.stringMatching('Created the database.$')])
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  it('prints JSON without a banner when stdout is not a terminal, and on a terminal with LOG_FORMAT=json', async () => {
    const outputs = [
      start({ DATA_DIR: 'a' }, { terminal: false }),
      start({ DATA_DIR: 'b', LOG_FORMAT: 'json' }, { terminal: true }),
    ]
    for (const service of outputs) {
      await eventually(() => expect(service.out).toContain('The service accepts requests at'))
      await service.stop()
      for (const line of service.lines()) expect(JSON.parse(line)).toHaveProperty('level')
      expect(service.lines().length).toBeGreaterThan(2)
    }
  })

  it.each(['json', 'text'])('goes on when nobody reads its output in %s any more', async (format) => {
    const port = await freePort()
    const service = start({ LOG_FORMAT: format, PORT: String(port) }, { terminal: false })
    service.closeOutput()
    const ready = async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status
    await eventually(async () => expect(await ready()).toBe(200))
    await service.stop()
    expect([await service.ended, service.error]).toEqual([0, ''])
  })

  it('reads .env in the working directory; the environment wins', async () => {
    const text = 'LOG_FORMAT=text\nDATA_DIR="from-file" # comment\nSERVICE_API_KEY=from-file\n'
    writeFileSync(join(folder, '.env'), text)
    const service = start({ DATA_DIR: 'from-environment' }, { terminal: false })
    await eventually(() => expect(service.out).toContain('The service accepts requests at'))
    expect(service.lines()[0]).toMatch(RECORD)
    expect(service.out).toContain('from-environment/encryption-keys')
    expect(service.out).not.toContain('service-api-key')
  })

  const failures: [string, () => Promise<Record<string, string>>, string[]][] = [
    [
      'a port in use',
      async () => ({ PORT: String(closing(await listening(() => {})).port) }),
      ['Port \\d+ is in use by', 'Stop it, or set PORT'],
    ],
    [
      'a database that does not respond',
      async () => ({ DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/d', SERVICE_API_KEY: 'k'.repeat(32) }),
      ['Cannot connect to the database: ', 'Check DATABASE_URL, and that PostgreSQL'],
    ],
    [
      'a data folder that is a file',
      async () => ({ DATA_DIR: process.execPath }),
      ['Cannot write in the data folder \\S+ \\(EEXIST\\)', 'Check DATA_DIR, and that this user'],
    ],
  ]

  it.each(failures)('reports %s in two lines without a stack', async (_, environment, texts) => {
    const service = start({ ...(await environment()), LOG_FORMAT: 'text' }, { terminal: false })
    expect(await service.ended).toBe(1)
    const lines = service.lines()
    const at = lines.findIndex((line) => line.includes(' fatal  '))
    expect(lines[at]).toMatch(new RegExp(`The service cannot start: ${texts[0]}`))
    expect(lines[at + 1]).toMatch(new RegExp(`^ {16}${texts[1]}`))
    for (const line of lines.slice(at + 2)) expect(line).toMatch(RECORD)
    expect(service.out).not.toMatch(/ at .*\.js|secret/)
    expect(service.error).toBe('')
  })

  it.each(failures)('reports %s in a sentence on stderr when stdout is a pipe', async (_, environment, texts) => {
    const service = start(await environment(), { terminal: false })
    expect(await service.ended).toBe(1)
    const pattern = `^posthorn: The service cannot start: ${texts[0]}.*\\n${texts[1]}.*\\n$`
    expect(service.error).toMatch(new RegExp(pattern))
    expect(service.out).not.toMatch(/ at .*\.js|:secret@/)
    for (const line of service.lines()) expect(JSON.parse(line)).toHaveProperty('level')
  })
})
