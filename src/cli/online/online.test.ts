import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Receiver, startReceiver } from '../../../test/servers/receiver.ts'
import { cli } from '../cli.ts'
import { table } from './table.ts'

const open = databases('sqlite')

describe('commands that call a running service', () => {
  let service: Service
  let receiver: Receiver
  const ids: string[] = []
  beforeAll(async () => {
    const place = await open.place()
    const fixture = testAccounts(await open(place))
    for (const name of ['ada', 'bob', 'cleo']) {
      ids.push((await fixture.link({ ...imapUser(name), customUserId: name === 'bob' ? 'user 4711/b' : null })).id)
    }
    service = await startService({ place })
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await service?.stop()
    await receiver?.close()
  })

  /** Runs a command in this process, on a terminal of this width. */
  async function posthorn(line: string[], options: { width?: number; url?: string; key?: string } = {}) {
    const out: string[] = []
    const error: string[] = []
    const { width, url = service.url, key = service.key } = options
    const terminal = { out: (text: string) => out.push(text), error: (text: string) => error.push(text), width }
    const code = await cli([...line, '--url', url, '--key', key], terminal)
    return { code, out: out.join('\n'), error: error.join('\n') }
  }

  it('list, filter and page accounts', async () => {
    const all = await posthorn(['accounts', 'list'])
    expect(all).toMatchObject({ code: 0, error: '3 accounts.' })
    const [header, ...rows] = all.out.split('\n')
    expect(header).toMatch(/^ID +EMAIL +STATUS +LAST SYNC +PROVIDER +CUSTOMER USER ID/)
    expect(rows.map((row) => row.split(' ')[0])).toEqual(ids.toReversed())
    const second = await posthorn(['accounts', 'list', '--limit', '1', '--page', '2', '--provider', 'imap'])
    expect(second.out).toContain('bob@example.com')
    expect(second.error).toBe('3 accounts, page 2 of 3. Next: posthorn accounts list --page 3')
    const json = await posthorn(['accounts', 'list', '--search', 'cleo@', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ accounts: [{ id: ids[2] }], pagination: { total: 1 } })
    expect(await posthorn(['accounts', 'list', '--status', 'paused'])).toMatchObject({ out: '', error: '0 accounts.' })
  })

  it('fit the terminal, but never shorten an id', async () => {
    for (const width of [60, 80, 120]) {
      const { out } = await posthorn(['accounts', 'list'], { width })
      const lines = out.split('\n')
      expect(lines.filter((line) => line.length > width && width >= 80)).toEqual([])
      expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(ids.toReversed())
    }
    const columns = [
      { title: 'ID', value: (row: string) => row },
      { title: 'TEXT', value: () => `\u001b[2J${'long '.repeat(20)}`, shrinks: true },
      { title: 'MORE', value: () => 'more', optional: true },
    ]
    expect(table(['a'], columns, 20)).toEqual(
      ['ID  TEXT        ', 'a   \ufffd[2Jlong lo\u2026'].map((line) => line.trimEnd()),
    )
  })

  it('accept an id, a customer user id or an address of an account', async () => {
    for (const named of [ids[1] ?? '', 'user 4711/b', 'Bob@Example.com']) {
      const { code, out } = await posthorn(['accounts', 'show', named])
      expect([named, code, out]).toEqual([named, 0, expect.stringMatching(new RegExp(`^Account +${ids[1]}\nEmail`))])
    }
    expect(await posthorn(['accounts', 'show', 'nobody@example.com'])).toMatchObject({
      code: 1,
      error: 'posthorn: No account has the address nobody@example.com. List them: posthorn accounts list',
    })
    expect(await posthorn(['accounts', 'show', 'acc_x'])).toMatchObject({
      code: 1,
      error: expect.stringContaining('"acc_x"'),
    })
  })

  it('pause, sync and resume an account', async () => {
    expect(await posthorn(['accounts', 'pause', 'ada@example.com'])).toMatchObject({
      code: 0,
      out: `${ids[0]}  ada@example.com  paused`,
    })
    expect((await posthorn(['accounts', 'sync', ids[0] ?? ''])).error).toBe(
      `The account is paused. Run: posthorn accounts resume ${ids[0]}`,
    )
    const { out } = await posthorn(['accounts', 'resume', ids[0] ?? '', '--json'])
    expect(JSON.parse(out)).toMatchObject({ id: ids[0], paused: false })
    expect(await posthorn(['accounts', 'sync', ids[0] ?? ''])).toMatchObject({
      code: 0,
      error: 'A sync was requested.',
    })
  })

  it('list, show and retry deliveries', async () => {
    receiver.always({ status: 500, body: 'no\u001b[31m' })
    const client = api(service.url, service.key)
    const created = await client.post('/webhooks/endpoints', { url: receiver.url, retryCount: 0 })
    await client.post('/webhooks/test-event', { type: 'message.received' })
    const failed = ['deliveries', 'list', '--status', 'failed', '--endpoint', created.json.id]
    await eventually(async () => expect((await posthorn(failed)).error).toBe('1 delivery.'))
    const id = (await posthorn(failed, { width: 100 })).out.split('\n')[1]?.split(' ')[0] ?? ''
    const shown = await posthorn(['deliveries', 'show', id])
    expect(shown.out).toMatch(/^Delivery +dlv_/)
    expect(shown.out).toContain(receiver.url)
    expect(shown.out).toMatch(/ATTEMPT +STARTED +DURATION +RESULT\n1 /)
    receiver.always({ status: 204 })
    expect(await posthorn(['deliveries', 'retry', id])).toMatchObject({ code: 0, out: expect.stringContaining(id) })
    await eventually(async () =>
      expect(JSON.parse((await posthorn(['deliveries', 'show', id, '--json'])).out).status).toBe('success'),
    )
  })

  it('start, show and list the historical sync of an account', async () => {
    for (const action of ['start', 'restart']) {
      expect(await posthorn(['backfill', action, 'ada@example.com'])).toMatchObject({
        code: 0,
        out: expect.stringMatching(new RegExp(`^Account +${ids[0]}\nStatus +`)),
      })
    }
    const listed = await posthorn(['backfill', 'list'])
    expect(listed).toMatchObject({ code: 0, error: '1 historical sync.', out: expect.stringContaining(ids[0] ?? '-') })
    expect((await posthorn(['backfill', 'show', 'bob@example.com'])).out).toMatch(/\nStatus +idle\n/)
    const refused = await posthorn(['backfill', 'pause', 'bob@example.com'])
    expect(refused).toMatchObject({ code: 1, out: '', error: expect.stringMatching(/^posthorn: ./) })
    expect(await posthorn(['backfill', 'list', '--status', 'idle'])).toMatchObject({ code: 2 })
  })

  it('create a key that is shown once, list it without the key, and revoke it', async () => {
    const created = await posthorn(['keys', 'create', '--name', 'reports', '--scopes', 'read', '--expires', '90d'])
    expect(created).toMatchObject({ code: 0, error: expect.stringContaining('only time') })
    expect(created.error).not.toContain(created.out)
    const listed = await posthorn(['keys', 'list'])
    expect(listed).toMatchObject({
      code: 0,
      error: '1 key.',
      out: expect.stringMatching(/key_\w+ +reports +read .* in 90 days/),
    })
    expect(listed.out).not.toContain(created.out)
    expect(await posthorn(['accounts', 'list'], { key: created.out })).toMatchObject({ code: 0 })
    const refused = await posthorn(['keys', 'list'], { key: created.out })
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('SERVICE_API_KEY has every scope') })
    const id = listed.out.split('\n')[1]?.split(' ')[0] ?? ''
    expect(await posthorn(['keys', 'revoke', id])).toMatchObject({ code: 0, out: 'The API key "reports" was revoked.' })
    expect(await posthorn(['accounts', 'list'], { key: created.out })).toMatchObject({ code: 1 })
    for (const [option, value, message] of [
      ['--expires', 'tomorrow', '--expires must be'],
      ['--expires', '2099-02-30', '--expires must be'],
      ['--expires', '2099-01-31T08:00Z', '--expires must be'],
      ['--expires', '2020-01-01', 'in the future'],
      ['--scopes', 'raed', 'Did you mean "read"?'],
      ['--name', ' ', 'needs --name'],
    ] as const) {
      const { code, error } = await posthorn([
        'keys',
        'create',
        ...(option === '--name' ? [] : ['--name', 'x']),
        option,
        value,
      ])
      expect([value, code, error]).toEqual([value, 2, expect.stringContaining(message)])
    }
  })

  it.each<[string, { key?: string; url?: string }, string]>([
    ['a wrong key', { key: 'wrong' }, 'Pass it with --key'],
    ['another path', { url: '/nowhere' }, 'not as Posthorn does'],
  ])('say what to do with %s', async (_title, { url, ...options }, message) => {
    const shownOptions = url === undefined ? options : { ...options, url: `${receiver.url}${url}` }
    const { code, out, error } = await posthorn(['accounts', 'list'], shownOptions)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(error).toContain(message)
    expect(error).not.toContain(service.key)
  })

  it('say how to start the service when nothing listens', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`
    const lines = [
      ['accounts', 'list'],
      ['accounts', 'show', 'acc_1'],
      ['accounts', 'sync', 'acc_1'],
      ['accounts', 'pause', 'acc_1'],
      ['accounts', 'resume', 'acc_1'],
      ['deliveries', 'list'],
      ['deliveries', 'show', 'dlv_1'],
      ['deliveries', 'retry', 'dlv_1'],
      ['keys', 'list'],
      ['keys', 'create', '--name', 'x'],
      ['keys', 'revoke', 'key_1'],
      ['backfill', 'list'],
      ['backfill', 'show', 'acc_1'],
      ['backfill', 'start', 'acc_1'],
    ]
    for (const line of lines) {
      const { code, error } = await posthorn(line, { url })
      expect([line, code, error]).toEqual([line, 1, expect.stringContaining(`Cannot reach the service at ${url}`)])
      expect(error).toContain('Start it (posthorn start), or pass its address with --url.')
    }
  })
})

function closedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
