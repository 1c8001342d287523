import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { closing } from '../kit/closing.ts'
import { administer } from '../kit/database/postgres-server.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { freePort } from '../servers/free-port.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const GUIDE = readFileSync(join(ROOT, 'docs/production.md'), 'utf8')
const BLOCKS = [...GUIDE.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
)

/** Every shell block, in order. A new one needs a run below, or a word why it has none. */
const [INSTALL = '', START = '', ENV = '', DOCTOR = '', BACKUP = '', RESTORE = ''] = BLOCKS

it('has a run for every shell block of the guide', () => {
  expect(BLOCKS).toHaveLength(6)
  // The test of the README installs, and `npm prune` would remove what the tests need.
  expect(INSTALL).toBe('npm ci\nnpm run build\nnpm prune --omit=dev\n')
  for (const [block, contained] of [
    [START, 'start'],
    [ENV, '> .env'],
    [DOCTOR, 'doctor'],
    [BACKUP, 'backup'],
    [RESTORE, 'restore'],
  ] as const) {
    expect(block).toContain(contained)
  }
})

describe.skipIf(inject('postgresUrl') === undefined)('the commands of the guide', () => {
  it('move a service with its key from the file store to PostgreSQL', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-production-'))
    closing({ close: async () => rmSync(folder, { recursive: true, force: true }) })
    symlinkSync(join(ROOT, 'dist'), join(folder, 'dist'))
    const server = inject('postgresUrl') ?? ''
    closing({ close: () => administer(server, 'drop role if exists posthorn_guide') })
    await administer(server, `create role posthorn_guide login password 'secret'`)
    closing({ close: () => administer(server, 'drop database if exists posthorn_guide with (force)') })
    await administer(server, 'create database posthorn_guide owner posthorn_guide')

    const before = await startIn(folder)
    const key = readFileSync(join(folder, 'data/service-api-key'), 'utf8').trim()
    const keyRing = readFileSync(join(folder, 'data/encryption-keys'), 'utf8').trim()
    const created = await api(before.url, key).post('/webhooks/endpoints', {
      url: 'https://app.example.com/hook',
      headers: { 'x-token': 'sealed' },
    })
    expect(created.status).toBe(201)
    await before.stop()

    const database = `${new URL(server).host}/posthorn_guide`
    await run(folder, ENV.replace('posthorn:secret@db.internal/posthorn', `posthorn_guide:secret@${database}`))
    const settings = readFileSync(join(folder, '.env'), 'utf8')
    writeFileSync(
      join(folder, '.env'),
      settings
        .replace(/^SERVICE_API_KEY=.*$/m, `SERVICE_API_KEY=${key}`)
        .replace(/^ENCRYPTION_KEYS=.*$/m, `ENCRYPTION_KEYS=${keyRing}`),
    )
    await run(folder, BACKUP)
    await run(folder, RESTORE)
    const after = await startIn(folder)
    const { json } = await api(after.url, key).get('/webhooks/endpoints')
    expect(json.endpoints.map(({ id }: { id: string }) => id)).toEqual([created.json.id])
    const checks = await execFileAsync('bash', ['-euc', DOCTOR.replace('doctor', 'doctor --json')], {
      cwd: folder,
      env: environment(folder),
    }).catch((error: { stdout: string }) => error)
    const { status } = JSON.parse(checks.stdout).checks.find(({ name }: { name: string }) => name === 'database')
    expect(status).toBe('ok')
    await after.stop()
  })
})

const execFileAsync = promisify(execFile)

const environment = (folder: string, port = '0') => ({
  PATH: process.env.PATH,
  HOME: folder,
  TMPDIR: tmpdir(),
  PORT: port,
})

async function run(folder: string, block: string): Promise<void> {
  const { stdout } = await execFileAsync('bash', ['-euc', block], { cwd: folder, env: environment(folder) })
  expect(stdout).not.toContain('rror')
}

/** Starts the service as the guide does, on a free port. */
async function startIn(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const child: ChildProcess = spawn('bash', ['-euc', `exec ${START}`], {
    cwd: folder,
    env: environment(folder, String(port)),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const exited = once(child, 'close')
  closing({ close: async () => void child.kill('SIGKILL') })
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    expect(child.exitCode, output).toBe(null)
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
    },
  }
}
