import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { GOOGLE_SCOPES, type Google, startGoogle } from '../servers/google.ts'

const GUIDES = ['from-nylas', 'from-emailengine'] as const
const text = (guide: string) => readFileSync(`docs/${guide}.md`, 'utf8')
const openapi = JSON.parse(readFileSync('openapi.json', 'utf8'))

/** The rows of the table below a heading, each with its cells. */
function rows(guide: string, heading: string): string[][] {
  const section =
    text(guide)
      .split(`\n${heading}\n`)[1]
      ?.split(/\n#{2,3} /)[0] ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('|---'))
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

const code = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

describe.each(GUIDES)('%s', (guide) => {
  it('names only events that exist', () => {
    const named = rows(guide, '## Events').flatMap(([, ours]) => code(ours))
    expect(named.length).toBeGreaterThan(12)
    expect(named.filter((type) => !(type in openapi.webhooks))).toEqual([])
  })

  it('names only fields that exist', () => {
    const schemas = [
      ...(text(guide)
        .split('## Fields')[1]
        ?.matchAll(/^### (\w+)$/gm) ?? []),
    ].map(([, name = '']) => name)
    expect(schemas.length).toBeGreaterThan(2)
    for (const schema of schemas) {
      const detail = openapi.components.schemas[`${schema}Detail`]?.properties ?? {}
      const known = { ...openapi.components.schemas[schema]?.properties, ...detail }
      const named = rows(guide, `### ${schema}`).flatMap(([, ours]) => code(ours))
      expect(named.length).toBeGreaterThan(5)
      expect([schema, named.filter((field) => !(field in known))]).toEqual([schema, []])
    }
  })
})

describe('the steps of the guides', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-moving-'))
  let google: Google
  let service: ServiceProcess
  let vendor: Server
  let environment: Record<string, string>
  const tokens: Record<string, string> = {}
  beforeAll(async () => {
    google = await startGoogle()
    for (const user of ['nora@gmail.test', 'emil@gmail.test']) {
      google.addUser(user)
      tokens[user] = (await google.grant(user, GOOGLE_SCOPES)).refreshToken
    }
    service = await startServiceProcess({ dataDir: join(folder, 'data'), env: google.settings })
    // Both vendors' lists of accounts, two per page.
    vendor = createServer(({ url = '', headers }, response) => {
      const query = new URL(url, 'http://vendor').searchParams
      const isFirst = (query.get('offset') ?? query.get('page')) === '0'
      const grants = ['nora@gmail.test', 'nils@gmail.test'].map((email) => ({
        id: `nylas-${email}`,
        email,
        provider: 'google',
      }))
      const accounts = [{ account: isFirst ? 'ee-emil' : 'ee-erna', type: 'gmail', state: 'connected' }]
      const body = url.startsWith('/v3/grants') ? { data: isFirst ? grants : [] } : { accounts, pages: 2 }
      response.writeHead(headers.authorization === 'Bearer vendor-key' ? 200 : 401).end(JSON.stringify(body))
    })
    await new Promise<void>((done) => vendor.listen(0, '127.0.0.1', done))
    const { port } = vendor.address() as AddressInfo
    const account = (id: string, user: string) => ({
      account: id,
      oauth2: { provider: 'app', auth: { user }, refreshToken: tokens[user] },
      _app: { provider: 'gmail', clientId: google.client.id, baseScopes: 'imap' },
    })
    const stored = {
      'ee-emil': account('ee-emil', 'emil@gmail.test'),
      'ee-erna': account('ee-erna', 'erna@gmail.test'),
    }
    writeFileSync(join(folder, 'emailengine'), emailEngine(stored))
    writeFileSync(
      join(folder, 'npx'),
      `#!/bin/sh\nshift\nexec "${process.execPath}" "${resolve('dist/posthorn.js')}" "$@"\n`,
    )
    for (const command of ['emailengine', 'npx']) chmodSync(join(folder, command), 0o755)
    environment = {
      PATH: `${folder}:${process.env.PATH}`,
      NYLAS: `http://127.0.0.1:${port}`,
      EMAILENGINE: `http://127.0.0.1:${port}`,
      NYLAS_API_KEY: 'vendor-key',
      EMAILENGINE_TOKEN: 'vendor-key',
      PUBLIC_URL: service.url,
      SERVICE_API_KEY: service.key,
    }
  })
  afterAll(async () => {
    await service?.stop()
    await Promise.all([google?.close(), new Promise((done) => vendor?.close(done))])
    rmSync(folder, { recursive: true, force: true })
  })

  /** `emailengine export --account ID`, which logs to stdout unless EENGINE_LOG_LEVEL is silent. */
  function emailEngine(accounts: object): string {
    return `#!${process.execPath}
if (process.env.EENGINE_LOG_LEVEL !== 'silent') console.log('{"level":10,"time":1,"msg":"a log line"}')
process.stdout.write(JSON.stringify(${JSON.stringify(accounts)}[process.argv.at(-1)]))
`
  }

  async function runSteps(guide: string, contains: string): Promise<string> {
    const blocks = [...text(guide).matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) =>
      block.replaceAll(/^ {3}/gm, ''),
    )
    const script = blocks.filter((block) => block.includes(contains)).join('\n')
    expect(script).not.toBe('')
    const run = promisify(execFile)('sh', ['-c', script], { cwd: folder, env: environment, encoding: 'utf8' })
    const { stdout, stderr } = await run.catch((error) => error)
    return stdout + stderr
  }

  it('export the grants of Nylas and import them with the tokens of the application', async () => {
    await runSteps('from-nylas', 'export-grants.mjs')
    const token = { id: 'nylas-nora@gmail.test', settings: { refresh_token: tokens['nora@gmail.test'] } }
    writeFileSync(join(folder, 'grants.jsonl'), `${JSON.stringify(token)}\n`, { flag: 'a' })
    const output = await runSteps('from-nylas', 'posthorn import')
    expect(output).toContain('Nothing was changed. 1 to import, 1 need a new sign-in of the user.')
    expect(output).toContain('1 imported, 1 need a new sign-in of the user.')
    expect((await api(service.url, service.key).get('/accounts/nylas-nora@gmail.test')).json).toMatchObject({
      email: 'nora@gmail.test',
    })
  })

  it('export the accounts of EmailEngine and import them', async () => {
    await runSteps('from-emailengine', 'export-accounts.mjs')
    const output = await runSteps('from-emailengine', 'posthorn import')
    // The second account has no token.
    expect(output).toContain('1 imported, 1 need a new sign-in of the user.')
    const account = () => api(service.url, service.key).get('/accounts/ee-emil/messages')
    await eventually(async () => expect((await account()).status).toBe(200))
    expect(output).not.toContain(tokens['emil@gmail.test'])
  })
})
