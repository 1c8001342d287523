import { chmodSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { api } from '../../test/kit/http/http.ts'
import { startService } from '../../test/kit/service/service.ts'
import { cli } from './cli.ts'

async function inFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-licence-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const run = async (...args: string[]) => {
    const out: string[] = []
    const error: string[] = []
    const code = await cli(['licence', ...args], { out: (text) => out.push(text), error: (text) => error.push(text) })
    return { code, out: out.join('\n'), error: error.join('\n') }
  }
  return { file: join(folder, 'private-key.pem'), run }
}

/** The value of `NAME=value`. */
const valueIn = (line: string) => line.slice(line.indexOf('=') + 1)

it('makes keys that a service with the public key accepts, and any other refuses', async () => {
  const { file, run } = await inFolder()
  const pair = await run('keypair', '--out', file)
  expect(pair).toMatchObject({ code: 0, out: expect.stringMatching(/^LICENSE_PUBLIC_KEY=[\w+/]{59}=$/) })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const secret = readFileSync(file, 'utf8').split('\n')[1] ?? ''
  expect(pair.out + pair.error).not.toContain(secret)

  const signed = await run(
    'sign',
    '--private-key',
    file,
    '--plan',
    'team',
    '--accounts',
    '0',
    '--expires',
    '2999-12-31',
  )
  expect(signed).toMatchObject({ code: 0, error: '', out: expect.stringMatching(/^SERVICE_LICENSE_KEY=/) })
  const healthWith = async (environment: Record<string, string>) => {
    const service = await startService({ environment: { SERVICE_LICENSE_KEY: valueIn(signed.out), ...environment } })
    onTestFinished(() => service.stop())
    return { client: api(service.url, service.key), health: (await api(service.url).get('/health')).json.data }
  }
  const { client, health } = await healthWith({ LICENSE_PUBLIC_KEY: valueIn(pair.out) })
  expect(health.license).toEqual({ plan: 'team', effectiveAccountLimit: 0, currentAccounts: 0 })
  expect(health.onboarding).toMatchObject({ canProceed: false })
  const refused = await client.post('/auth/sessions', {
    provider: 'imap',
    email: 'ada@app.example',
    redirectUri: 'https://app.example/',
  })
  expect([refused.status, refused.json.error.code]).toEqual([403, 'licence_limit'])

  const { health: other } = await healthWith({})
  expect(other.license).toMatchObject({ plan: 'community', effectiveAccountLimit: null })
  expect(JSON.stringify(other.warnings)).toContain('licence')
})

it('prints the private key only when asked, and overwrites none', async () => {
  const { file, run } = await inFolder()
  expect(await run('keypair')).toMatchObject({ code: 2, out: '' })
  expect((await run('keypair', '--show')).out).toContain('BEGIN PRIVATE KEY')
  await writeFile(file, 'mine')
  expect(await run('keypair', '--out', file)).toMatchObject({ code: 2, out: '' })
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

it('refuses wrong options, and a private key that others can read', async () => {
  const { file, run } = await inFolder()
  await run('keypair', '--out', file)
  const usual = ['--private-key', file, '--plan', 'team']
  for (const wrong of [
    ['--private-key', file],
    ['--plan', 'team'],
    [...usual, '--accounts', '-1'],
    [...usual, '--accounts', '1.5'],
    [...usual, '--expires', '2027-02-30'],
    [...usual, '--expires', 'soon'],
  ]) {
    expect([wrong, await run('sign', ...wrong)]).toEqual([wrong, expect.objectContaining({ code: 2, out: '' })])
  }
  chmodSync(file, 0o644)
  expect(await run('sign', ...usual)).toMatchObject({ code: 1, error: expect.stringContaining('chmod 600') })
  await writeFile(file, 'not a key')
  chmodSync(file, 0o600)
  expect(await run('sign', ...usual)).toMatchObject({ code: 1, out: '' })
})
