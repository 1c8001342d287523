import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VERSION } from '../app/version.ts'
import { migrations } from '../migrations/index.ts'
import { COMMANDS, cli } from './cli.ts'

describe('posthorn', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-cli-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** Runs the built command as a process, in an empty folder, with this environment only. */
  async function posthorn(args: string[], env: Record<string, string> = {}) {
    const entry = new URL('../../dist/posthorn.js', import.meta.url).pathname
    const child = spawn(process.execPath, [entry, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { out: '', error: '' }
    child.stdout.on('data', (chunk) => {
      output.out += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.error += chunk
    })
    await once(child, 'close')
    return { ...output, code: child.exitCode }
  }

  it('prints its commands and its version', async () => {
    expect(await posthorn(['--version'])).toEqual({ out: `${VERSION}\n`, error: '', code: 0 })
    const lines: string[] = []
    expect(await cli([], { out: (text) => lines.push(text), error: () => {} })).toBe(0)
    for (const command of [
      'start',
      'migrate up',
      'config check',
      'doctor',
      'accounts show <account>',
      'trigger <type>',
    ]) {
      expect(lines.join()).toContain(`  ${command}  `)
    }
  })

  it.each([
    [['start', '--help'], 'posthorn start: run', '  posthorn start'],
    [['help', 'listen'], '  --forward URL ', '  posthorn listen --forward http://localhost:3000/hook'],
    [['trigger', 'message.received', '--help'], '  --list ', '  posthorn trigger --list'],
    [['help', 'migrate'], 'posthorn migrate up: apply', 'posthorn migrate status: list'],
  ])('prints the options and examples of a command for %j', async (args, first, second) => {
    const lines: string[] = []
    const code = await cli(args, { out: (text) => lines.push(text), error: (text) => lines.push(`error ${text}`) })
    expect(code).toBe(0)
    expect(lines.join()).toContain(first)
    expect(lines.join()).toContain(second)
    expect(lines.join()).not.toContain('error ')
  })

  it.each([
    [['migrate'], '"migrate" is not a command. Did you mean "migrate up" or "migrate status"?'],
    [['migrate', 'staus'], '"migrate staus" is not a command. Did you mean "migrate status"?'],
    [['migrate', 'up', 'now'], '"migrate up now" is not a command.'],
    [['migrate', 'status', '--forward', 'x'], '--forward is not an option of migrate status.'],
    [['strat'], '"strat" is not a command. Did you mean "start"?'],
    [['help', 'lisen'], '"lisen" is not a command. Did you mean "listen"?'],
    [['start', '--port', '1'], "Unknown option '--port'."],
    [['start', '--list'], '--list is not an option of start.'],
    [['listen', '--foward', 'x'], `Unknown option '--foward'. Did you mean "--forward"?`],
    [['listen', 'now'], '"listen now" is not a command.'],
    [['trigger', 'a', 'b'], '"trigger a b" is not a command.'],
    [['start', 'now'], '"start now" is not a command.'],
    [['toString'], '"toString" is not a command.'],
    [['accounts'], '"accounts" is not a command. Did you mean "accounts list" or'],
    [['acounts', 'list'], '"acounts list" is not a command. Did you mean "accounts list"?'],
    [['accounts', 'show'], 'accounts show needs an account. List them: posthorn accounts list'],
    [
      ['accounts', 'list', '--status', 'conected'],
      '--status must be one of connecting, syncing, connected, auth_error, error, paused. Did you mean "connected"?',
    ],
    [['accounts', 'list', '--page', '0'], '--page must be a whole number from 1.'],
    [['deliveries', 'retry'], 'deliveries retry needs a delivery. List them: posthorn deliveries list --status failed'],
    [['deliveries', 'list', '--staus', 'x'], 'Unknown option \'--staus\'. Did you mean "--status"?'],
    [['doctor', '--status', 'x'], '--status is not an option of doctor.\nTry: posthorn doctor --help'],
    [['config'], '"config" is not a command. Did you mean "config check"?'],
    [['--force'], "Unknown option '--force'"],
  ])('rejects %j with exit code 2', async (args, message) => {
    const lines: string[] = []
    const code = await cli(args, { out: (text) => lines.push(`out ${text}`), error: (text) => lines.push(text) })
    expect(lines.join()).toContain(`posthorn: ${message}`)
    expect(lines.join()).not.toContain('out ')
    expect(code).toBe(2)
  })

  it('prints every error in the settings and exits 2, before it opens anything', async () => {
    const { out, error, code } = await posthorn(['start'], { PORT: 'x', DATABASE_URL: 'postgres://h/d' })
    expect(error).toBe(
      'posthorn: The settings are not valid:\n' +
        '  - PORT must be a whole number from 0 to 65535.\n' +
        '  - SERVICE_API_KEY is missing. With DATABASE_URL, give every instance the same key.\n',
    )
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(readdirSync(folder)).toEqual([])
  })

  it('migrates, and lists applied and pending migrations without creating files', async () => {
    const names = migrations.map((migration) => migration.name)
    const before = await posthorn(['migrate', 'status'])
    expect(before).toMatchObject({ error: '', code: 0 })
    expect(before.out.split('\n')[0]).toBe(`pending  ${names[0]}`)
    expect(existsSync(join(folder, 'data'))).toBe(false)

    const up = await posthorn(['migrate', 'up'])
    expect(up.out.split('\n').slice(0, names.length)).toEqual(names.map((name) => `applied ${name}`))
    expect((await posthorn(['migrate', 'up'])).out).toBe('The database is up to date.\n')
    expect((await posthorn(['migrate', 'status'])).out).toBe(
      `${names.map((name) => `applied  ${name}\n`).join('')}No migrations are pending.\n`,
    )
  })

  it.each(['--help', 'config check --all', 'migrate status --json'])(
    'ends silently when nobody reads %s',
    async (line) => {
      const entry = new URL('../../dist/posthorn.js', import.meta.url).pathname
      // The reader ends before the command writes.
      const script = `'${process.execPath}' '${entry}' ${line} | : ; echo "\${PIPESTATUS[0]}"`
      const child = spawn('bash', ['-c', script], {
        cwd: folder,
        env: { PATH: process.env.PATH },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
      await once(child, 'close')
      expect(output.replace('The settings are valid.\n', '')).toBe('0\n')
    },
  )

  it('prints the migrations as JSON', async () => {
    const names = migrations.map((migration) => migration.name)
    const status = async () => JSON.parse((await posthorn(['migrate', 'status', '--json'])).out)
    expect(await status()).toEqual({ applied: [], pending: names, unknown: [] })
    expect(JSON.parse((await posthorn(['migrate', 'up', '--json'])).out)).toEqual({ applied: names })
    expect(await status()).toEqual({ applied: names, pending: [], unknown: [] })
  })

  it('has --json for every command that ends with a result', () => {
    const without = Object.entries(COMMANDS).filter(([, { options }]) => options?.json === undefined)
    expect(without.map(([name]) => name)).toEqual(['start', 'demo', 'mcp'])
  })

  it('prints help that fits the terminal', async () => {
    for (const width of [80, 120]) {
      const lines: string[] = []
      const terminal = { out: (text: string) => lines.push(...text.split('\n')), error: () => {}, width }
      for (const line of [['--help'], ['help', 'deliveries']]) await cli(line, terminal)
      const texts = lines.filter((line) => !line.startsWith('  posthorn '))
      expect(texts.length).toBeGreaterThan(50)
      expect(texts.filter((line) => line.length > width)).toEqual([])
    }
  })

  it('does not start with pending migrations when auto-apply is off, and prints the command', async () => {
    const { out, code } = await posthorn(['start'], { AUTO_APPLY_MIGRATIONS: 'false', HOST: '127.0.0.1', PORT: '0' })
    expect(out).toContain('Run: posthorn migrate up')
    expect(code).toBe(1)
  })
})
