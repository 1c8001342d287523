import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { messageApi } from '../../../../test/kit/messages/message-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'

type Api = Awaited<ReturnType<typeof messageApi>>

const readNames = async (api: Api) =>
  (await api.get('/labels')).json.labels.map((label: { name: string }) => label.name).sort()

describe.each(['whole', 'folders'] as const)('changing labels (%s)', (kind) => {
  describeEachDatabase('over the API', (open) => {
    it('creates one with its parents, visible at once, under the id that sync keeps', async () => {
      const mailbox = await syncedDouble(kind, open)
      const api = await messageApi(mailbox)
      const body = { name: 'Clients/Acme/2026', displayName: 'This year', color: '#FF0000' }
      const created = await api.request('POST', '/labels', body)
      expect(created).toMatchObject({
        status: 200,
        json: { success: true, label: { name: 'Clients/Acme/2026', displayName: 'This year', color: '#FF0000' } },
      })
      expect(await readNames(api)).toEqual(['Clients', 'Clients/Acme', 'Clients/Acme/2026', 'More', 'Work'])
      expect((await api.get(`/messages?labelId=${created.json.label.id}`)).json.pagination.total).toBe(0)
      await mailbox.same()
      const listed = (await api.get('/labels?limit=200')).json.labels
      expect(listed.find((label: { name: string }) => label.name === body.name)).toMatchObject({
        id: created.json.label.id,
        displayName: 'This year',
        color: '#FF0000',
      })
      expect(await api.request('POST', '/labels', body)).toMatchObject({
        status: 409,
        json: { error: { code: 'conflict' } },
      })
    })

    it('keeps a colour as it was given, also one that the provider cannot have', async () => {
      const mailbox = await syncedDouble(kind, open)
      const api = await messageApi(mailbox)
      for (const [index, color] of ['Tomato', '#F00', '#16A76580', 'our brand', ''].entries()) {
        const name = `Label ${index}`
        const { status, json } = await api.request('POST', '/labels', { name, displayName: name, color })
        expect([status, json.label]).toMatchObject([200, { color }])
        await mailbox.same()
        const { labels } = (await api.get('/labels?limit=200')).json
        expect(labels.find((label: { id: string }) => label.id === json.label.id)).toMatchObject({ color })
        const changed = await api.request('PATCH', `/labels/${json.label.id}`, { color: 'Hot Pink' })
        expect(changed.json).toMatchObject({ color: 'Hot Pink' })
      }
    })

    it('renames one with those below it, and keeps their ids and messages', async () => {
      const mailbox = await syncedDouble(kind, open, { before: (box) => box.deliver('a') })
      const api = await messageApi(mailbox)
      const { id } = (await api.request('POST', '/labels', { name: 'Old/Deep', displayName: 'Deep' })).json.label
      const { a = '' } = await mailbox.ids()
      await api.patch(a, { labelIds: [id] })
      const old = await api.label('Old')
      const renamed = await api.request('PATCH', `/labels/${old}`, { name: 'New', color: '#00ff00' })
      expect(renamed).toMatchObject({
        status: 200,
        json: { id: old, name: 'New', displayName: 'New', color: '#00ff00' },
      })
      expect(await readNames(api)).toEqual(['More', 'New', 'New/Deep', 'Work'])
      expect((await api.get(`/messages?labelId=${id}`)).json.messages).toMatchObject([{ id: a }])
      await mailbox.same()
      expect(await readNames(api)).toEqual(['More', 'New', 'New/Deep', 'Work'])
      const changed = (await mailbox.events()).filter(
        ({ type, data }) => type === 'mailbox.changed' && data.folder === 'New',
      )
      expect(changed).toHaveLength(1)
    })

    it('deletes one: hidden at once, and its messages lose it', async () => {
      const mailbox = await syncedDouble(kind, open, { before: (box) => box.deliver('a', { folders: ['Work'] }) })
      const api = await messageApi(mailbox)
      expect(await api.request('DELETE', '/labels/Work')).toMatchObject({ status: 200, json: { success: true } })
      expect(await readNames(api)).toEqual(['More'])
      expect((await api.request('DELETE', '/labels/Work')).status).toBe(404)
      await mailbox.same()
      await eventually(async () => expect(await mailbox.emitted()).toEqual(['message.updated a 2']))
    })

    it('refuses system labels, bad names and taken names', async () => {
      const mailbox = await syncedDouble(kind, open)
      const api = await messageApi(mailbox)
      const error = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
        (await api.request(method, path, body)).json.error.code
      expect(await error('PATCH', '/labels/INBOX', { name: 'Mine' })).toBe('not_supported')
      expect(await error('DELETE', '/labels/TRASH')).toBe('not_supported')
      expect(await error('PATCH', '/labels/Work', { name: 'More' })).toBe('conflict')
      expect(await error('PATCH', '/labels/Work', { name: 'Work/Below' })).toBe('validation_failed')
      expect(await error('PATCH', '/labels/Nowhere', { name: 'Some' })).toBe('not_found')
      expect(await error('POST', '/labels', { name: '', displayName: 'x' })).toBe('validation_failed')
      expect(await error('POST', '/labels', { name: 'a//b', displayName: 'x' })).toBe('validation_failed')
      expect(await error('POST', '/labels', { name: 'a', displayName: 'a', color: 7 })).toBe('validation_failed')
    })

    it('reads labels from the provider on request, and after the cache was cleared', async () => {
      const mailbox = await syncedDouble(kind, open, { timing: { foldersMs: 600_000 } })
      const api = await messageApi(mailbox)
      mailbox.box.addFolder('Fresh')
      expect(await api.request('POST', '/labels/sync')).toMatchObject({ status: 200, json: { success: true } })
      expect(await readNames(api)).toEqual(['Fresh', 'More', 'Work'])
      mailbox.box.addFolder('Fresher')
      expect(await api.request('POST', '/labels/cache/clear')).toMatchObject({ status: 200, json: { success: true } })
      expect(await readNames(api)).toEqual(['Fresh', 'Fresher', 'More', 'Work'])
    })
  })
})

describe.skipIf(!dovecotAvailable())('changing IMAP folders', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('over the API', (open) => {
    it('creates, renames and deletes them under one id, with their messages', async () => {
      const mailbox = await syncedMailbox(server, open, { before: (box) => box.deliver('a') })
      const api = await messageApi(mailbox)
      const created = await api.request('POST', '/labels', { name: 'Clients/Größe', displayName: 'Größe' })
      const { id } = created.json.label
      const { a: [a = ''] = [] } = await mailbox.ids()
      expect((await api.patch(a, { labelIds: [id] })).json).toMatchObject({ folder: 'Clients/Größe' })
      const parent = await api.label('Clients')
      expect((await api.request('PATCH', `/labels/${parent}`, { name: 'Customers' })).json).toMatchObject({
        id: parent,
        name: 'Customers',
        providerId: 'Customers',
      })
      expect((await api.get('/messages?mailbox=Customers/Größe')).json.messages).toMatchObject([{ id: a }])
      expect(await readNames(api)).toEqual(['Customers', 'Customers/Größe'])
      expect((await api.request('DELETE', `/labels/${id}`)).status).toBe(200)
      expect(await readNames(api)).toEqual(['Customers'])
      await mailbox.same()
      await eventually(async () => expect(await mailbox.ids()).toEqual({}))
    })

    it("answers a name that the mail server refuses with 400 and the server's words", async () => {
      const mailbox = await syncedMailbox(server, open)
      const api = await messageApi(mailbox)
      const refused = {
        status: 400,
        json: {
          error: {
            code: 'validation_failed',
            details: [{ path: 'body.name', message: expect.stringContaining('Invalid mailbox name') }],
          },
        },
      }
      const created = await api.request('POST', '/labels', { name: '../../etc', displayName: 'etc' })
      expect(created).toMatchObject(refused)
      await api.request('POST', '/labels', { name: 'Fine', displayName: 'Fine' })
      const renamed = await api.request('PATCH', `/labels/${await api.label('Fine')}`, { name: '~root/x' })
      expect(renamed).toMatchObject(refused)
      expect(await readNames(api)).toEqual(['Fine'])
    })
  })
})
