import { describe, expect, it } from 'vitest'
import { alternativeMail, attachmentMail, plainMail } from '../messages.ts'
import { BOB, IMMUTABLE, startSignedInGraph } from './signed-in-graph.ts'

describe('mail of the fake Microsoft', () => {
  it('sends drafts from MIME with the scope for it, and refuses what Graph refuses', async () => {
    const { microsoft, call, send } = await startSignedInGraph()
    const create = (body: string, path = '') =>
      call(`/me/messages${path}`, { method: 'POST', body, headers: { 'content-type': 'text/plain', ...IMMUTABLE } })
    expect((await create('From: x')).status).toBe(400)
    expect((await create('A'.repeat(4_194_305))).status).toBe(413)
    const raw = attachmentMail({
      from: BOB,
      to: 'eve@example.test',
      messageId: '<1@x>',
      headers: ['X-New: 1', 'List-Id: <x>'],
    })
    const { id } = (await (await create(raw.toString('base64'))).json()) as { id: string }
    const session = { attachmentType: 'file', name: 'a', size: 2_000_000 }
    const small = await send('POST', `/me/messages/${id}/attachments/createUploadSession`, { AttachmentItem: session })
    expect([small.status, await small.text()]).toEqual([400, expect.stringContaining('MinimumSize')])
    const readOnly = await microsoft.grant(BOB, ['offline_access', 'Mail.ReadWrite'])
    expect((await call(`/me/messages/${id}/send`, { method: 'POST' }, readOnly.accessToken)).status).toBe(403)
    expect((await send('POST', `/me/messages/${id}/send`)).status).toBe(202)
    expect((await send('POST', `/me/messages/${id}/send`)).status).toBe(400)
    expect(microsoft.messages(BOB)).toMatchObject([{ id, folderId: microsoft.folderId(BOB, 'sentitems') }])
    const fields = raw.toString('latin1').replace('X-New: 1\r\n', '').replace('List-Id: <x>\r\n', '')
    expect(microsoft.sent).toEqual([{ user: BOB, raw: fields, recipients: ['eve@example.test'] }])
  })

  it('lists, filters, orders and returns messages, their MIME and their attachments', async () => {
    const { microsoft, call, page } = await startSignedInGraph()
    const raw = attachmentMail({ subject: 'Grüße' })
    const old = await microsoft.deliver(BOB, raw, { date: new Date('2026-01-01T00:00:00Z') })
    await microsoft.deliver(BOB, alternativeMail({ subject: 'second' }), { date: new Date('2026-01-02T00:00:00Z') })
    await microsoft.deliver(BOB, plainMail({ subject: 'third' }), { date: new Date('2026-01-03T00:00:00Z') })
    const first = await page('/me/mailFolders/inbox/messages?$top=2&$select=subject')
    expect(first.value.map(({ subject }) => subject)).toEqual(['third', 'second'])
    expect(Object.keys(first.value[0] ?? {}).sort()).toEqual(['@odata.etag', 'id', 'subject'])
    expect((await page(first['@odata.nextLink'] ?? '', IMMUTABLE)).value).toMatchObject([{ id: old, subject: 'Grüße' }])
    const since = await page(
      `/me/messages?$filter=receivedDateTime ge 2026-01-02T00:00:00Z&$orderby=receivedDateTime asc`,
    )
    expect(since.value.map(({ subject }) => subject)).toEqual(['second', 'third'])
    expect(Buffer.from(await (await call(`/me/messages/${old}/$value`)).arrayBuffer())).toEqual(raw)
    const [attachment] = (await page(`/me/messages/${old}/attachments?$select=name,size`)).value
    const bytes = await (await call(`/me/messages/${old}/attachments/${attachment?.id}/$value`)).arrayBuffer()
    expect(attachment).toMatchObject({ size: bytes.byteLength })
    expect(attachment).not.toHaveProperty('contentBytes')
    expect((await call('/me/messages/none')).status).toBe(404)
  })

  it('returns a body as text, and the size and thread of a message, on request', async () => {
    const { microsoft, page } = await startSignedInGraph()
    const raw = alternativeMail({ text: 'The plain one.', headers: ['In-Reply-To: <first@example.test>'] })
    await microsoft.deliver(BOB, raw)
    const properties = `singleValueExtendedProperties($filter=id eq 'Integer 0xe08' or id eq 'String 0x1042')`
    const asked = `/me/messages?$select=body,receivedDateTime&$expand=${encodeURIComponent(properties)}`
    const [mail] = (await page(asked, { prefer: 'outlook.body-content-type="text"' })).value
    expect(mail).toMatchObject({
      body: { contentType: 'text', content: expect.stringContaining('The plain one.') },
      receivedDateTime: expect.stringMatching(/^[\d-]{10}T[\d:]{8}Z$/),
      singleValueExtendedProperties: [
        { id: 'Integer 0xe08', value: String(raw.length) },
        { id: 'String 0x1042', value: '<first@example.test>' },
      ],
    })
    expect((await page('/me/messages')).value[0]).toMatchObject({ body: { contentType: 'html' } })
  })

  it('changes the id of a moved message, except an immutable id', async () => {
    const { microsoft, call, page, send } = await startSignedInGraph()
    const id = await microsoft.deliver(BOB, plainMail())
    const [before] = (await page('/me/messages?$select=id')).value
    expect(before?.id).not.toBe(id)
    expect((await send('POST', `/me/messages/${before?.id}/move`, { destinationId: 'archive' })).status).toBe(201)
    expect((await call(`/me/messages/${before?.id}`)).status).toBe(404)
    expect((await page('/me/messages?$select=id', IMMUTABLE)).value).toMatchObject([{ id }])
    expect((await send('PATCH', `/me/messages/${id}`, { isRead: true, flag: { flagStatus: 'flagged' } })).status).toBe(
      200,
    )
    expect(microsoft.messages(BOB)).toMatchObject([
      { folderId: microsoft.folderId(BOB, 'archive'), read: true, starred: true },
    ])
    await send('DELETE', `/me/messages/${id}`)
    expect(microsoft.messages(BOB)).toMatchObject([{ folderId: microsoft.folderId(BOB, 'deleteditems') }])
    await send('DELETE', `/me/messages/${id}`)
    expect(microsoft.messages(BOB)).toEqual([])
  })

  it('returns what is selected, with its context, and no members of the beta', async () => {
    const { page } = await startSignedInGraph()
    const folders = await page('/me/mailFolders?$select=displayName')
    expect(folders).toMatchObject({ '@odata.context': expect.stringContaining('$metadata#') })
    expect(Object.keys(folders.value[0] ?? {}).sort()).toEqual(['displayName', 'id'])
    expect((await page('/me/mailFolders')).value[0]).not.toHaveProperty('sizeInBytes')
  })

  it('nests folders, hides well-known names, and lists folder changes by delta', async () => {
    const { microsoft, page, send } = await startSignedInGraph()
    const parent = microsoft.createFolder(BOB, 'Projects')
    const since = (await page('/me/mailFolders/delta', { prefer: 'odata.maxpagesize=100' }))['@odata.deltaLink'] ?? ''
    const made = await send('POST', `/me/mailFolders/${parent}/childFolders`, { displayName: 'Alpha' })
    const child = ((await made.json()) as { id: string }).id
    expect((await page(`/me/mailFolders/${parent}/childFolders`)).value).toMatchObject([
      { id: child, parentFolderId: parent },
    ])
    expect((await page('/me/mailFolders?$top=100')).value).toHaveLength(8)
    expect((await page('/me/mailFolders?$top=1')).value[0]).not.toHaveProperty('wellKnownName')
    microsoft.deleteFolder(BOB, parent)
    expect((await page(since)).value.map(({ id }) => id).sort()).toEqual([parent, child].sort())
    expect((await send('DELETE', '/me/mailFolders/inbox')).status).toBe(403)
  })
})
