import type { FakeResponse } from '../fake/http-server.ts'
import type { Route, Routed } from '../fake/router.ts'
import { attachmentRoutes } from './attachments.ts'
import type { ChangeLog, DeltaItem } from './delta.ts'
import { drafts as createDrafts } from './drafts.ts'
import type { Emulator, MessageRow } from './emulator.ts'
import { badRequest, cannotDelete, graphError, itemNotFound, noSegment } from './errors.ts'
import { parseSearch } from './kql.ts'
import type { Mailboxes } from './mailbox.ts'
import { folderResource, messageResource, messageView, type Resource, readView, skippedPage } from './resources.ts'
import { type GraphSubmission, sendRoutes } from './sending.ts'

const ME = '/v1.0/me'
const PROTECTED = ['inbox', 'sentitems', 'drafts', 'archive', 'deleteditems', 'junkemail', 'outbox', 'msgfolderroot']
const DRAFT_CONTENT = [
  'from',
  'subject',
  'body',
  'toRecipients',
  'ccRecipients',
  'bccRecipients',
  'replyTo',
  'internetMessageId',
  'singleValueExtendedProperties',
]
const folderNotFound = () => graphError(404, 'ErrorItemNotFound', 'The specified folder was not found in the store.')

export interface MailDeps {
  sent: GraphSubmission[]
  onSent(): Promise<void>
  uploadOrigin(): string
  replacesMessageIds(): boolean
  maySendAs(request: Routed, mailbox: string, from: string): boolean
  /** Further addresses of a mailbox. */
  aliasesOf(user: string): readonly string[]
  /** Only the worldwide cloud has `permanentDelete`. */
  isWorldwide(): boolean
}

/** Messages and folders of Graph v1.0. */
export function mailRoutes(emulator: Emulator, boxes: Mailboxes, log: ChangeLog, deps: MailDeps): Route[] {
  const body = (request: Routed) => JSON.parse(request.body.toString() || '{}') as Record<string, unknown>
  const requestUser = (request: Routed): string => request.user ?? ''
  async function sendOne(request: Routed, id: string, status = 200) {
    const shown = await messageResource(emulator, boxes, requestUser(request), id, readView(request))
    return shown ? Response.json(shown, { status }) : itemNotFound()
  }

  /** Returns `proxyAddresses` only when they are selected. */
  async function showMe(request: Routed) {
    const user = requestUser(request)
    const response = await emulator.request(ME, { user })
    if (!response.ok || !request.url.searchParams.get('$select')?.includes('proxyAddresses')) return response
    const proxyAddresses = [`SMTP:${user}`, ...deps.aliasesOf(user).map((address) => `smtp:${address}`)]
    return Response.json({ ...((await response.json()) as object), proxyAddresses })
  }

  /** Passes the immutable id of the message in the path to `act`, or returns 404. */
  const withMessage =
    (act: (request: Routed, id: string) => FakeResponse | Promise<FakeResponse>) => (request: Routed) => {
      const id = boxes.find(requestUser(request), request.params.id ?? '')
      return id === undefined ? itemNotFound() : act(request, id)
    }

  /** At most 1,000 messages, by the time they were sent. Graph combines `$search` with neither `$filter` nor `$orderby`. */
  async function search(request: Routed, folder?: string) {
    const params = request.url.searchParams
    const user = requestUser(request)
    const test = parseSearch(params.get('$search') ?? '')
    if (test === undefined) return badRequest('Syntax error in the search query.')
    for (const [name, code] of [
      ['$filter', 'SearchWithFilter'],
      ['$orderby', 'SearchWithOrderBy'],
    ] as const) {
      if (params.has(name))
        return graphError(400, code, `The query parameter '${name}' is not supported with '$search'.`)
    }
    const found = boxes
      .messages(user)
      .filter((row) => folder === undefined || row.parent_folder_id === folder)
      .filter((row) => test(row, boxes, emulator))
      .sort((a, b) => (b.sent_date_time ?? '').localeCompare(a.sent_date_time ?? ''))
      .slice(0, 1000)
    const shown = found.map((row) => messageResource(emulator, boxes, user, row.microsoft_id, readView(request)))
    return skippedPage(
      request,
      (await Promise.all(shown)).filter((message) => message !== undefined),
      10,
      '$skiptoken',
    )
  }

  /** The emulator filters and sorts; the default order is newest first. */
  async function list(request: Routed, path: string, folder?: string) {
    const params = request.url.searchParams
    if (params.has('$search')) return search(request, folder)
    const query = new URLSearchParams({ $top: '1000000', $orderby: params.get('$orderby') ?? 'receivedDateTime desc' })
    const filter = params.get('$filter')
    const messageId = /^internetMessageId eq '(.*)'$/.exec(filter ?? '')?.[1]?.replaceAll("''", "'")
    if (filter && messageId === undefined) query.set('$filter', filter)
    const response = (await (await emulator.request(`${path}?${query}`, { user: requestUser(request) })).json()) as {
      value: Resource[]
    }
    const view = readView(request)
    return skippedPage(
      request,
      response.value
        .filter((shown) => messageId === undefined || shown.internetMessageId === messageId)
        .map((shown) => messageView(shown, boxes, view)),
      10,
    )
  }

  async function listFolder(request: Routed) {
    const folder = boxes.folder(requestUser(request), request.params.folder ?? '')
    return folder
      ? list(request, `${ME}/mailFolders/${folder.microsoft_id}/messages`, folder.microsoft_id)
      : folderNotFound()
  }

  function delta(request: Routed) {
    const user = requestUser(request)
    const folder = boxes.folder(user, request.params.folder ?? '')
    if (!folder) return folderNotFound()
    // The function has no EntitySetPath, without which OData cannot read the options of an expansion.
    if (request.url.searchParams.get('$expand')?.includes('(')) {
      return badRequest("Parsing OData Select and Expand failed: Value cannot be null. (Parameter 'initialState')")
    }
    const key = folder.microsoft_id
    const inside = () =>
      boxes
        .messages(user)
        .filter((message) => message.parent_folder_id === key && isLateEnough(message, request.url.searchParams))
        .sort((left, right) => right.received_date_time.localeCompare(left.received_date_time))
        .map((message) => message.microsoft_id)
    return log.page(request, key, inside, async (item: DeltaItem, query) => {
      const view = readView(request, query)
      const removed = { '@removed': { reason: 'deleted' }, id: view.immutable ? item.id : item.wasId }
      const now = boxes.messages(user).find(({ microsoft_id }) => microsoft_id === item.id)
      if (now?.parent_folder_id !== key) return removed
      // Under an immutable id, a message that came back is reported as removed only.
      if (item.hasLeft && view.immutable) return removed
      if (item.readOnly)
        return messageResource(emulator, boxes, user, item.id, { ...view, select: 'isRead', expand: null })
      if (!isLateEnough(now, query)) return undefined
      return (await messageResource(emulator, boxes, user, item.id, view)) ?? removed
    })
  }

  function folderDelta(request: Routed) {
    const user = requestUser(request)
    const all = () =>
      boxes
        .folders(user)
        .filter(({ parent_folder_id }) => parent_folder_id !== null)
        .map(({ microsoft_id }) => microsoft_id)
    return log.page(request, 'folders', all, async ({ id }) => {
      const now = boxes.folder(user, id)
      return now ? folderResource(boxes, user, now) : { '@removed': { reason: 'deleted' }, id }
    })
  }

  function children(request: Routed) {
    const user = requestUser(request)
    const parent = boxes.folder(user, request.params.folder ?? 'msgfolderroot')
    if (!parent) return folderNotFound()
    const below = boxes.folders(user).filter((row) => row.parent_folder_id === parent.microsoft_id)
    return skippedPage(
      request,
      below.map((row) => folderResource(boxes, user, row)),
      10,
    )
  }

  function createFolder(request: Routed) {
    const user = requestUser(request)
    const parent = boxes.folder(user, request.params.folder ?? 'msgfolderroot')
    const name = body(request).displayName
    if (!parent) return folderNotFound()
    if (typeof name !== 'string' || name === '') return badRequest('displayName is required.')
    const taken = boxes
      .folders(user)
      .some((row) => row.parent_folder_id === parent.microsoft_id && row.display_name === name)
    if (taken) return graphError(409, 'ErrorFolderExists', 'A folder with the specified name already exists.')
    const created = boxes.folder(user, boxes.insertFolder(user, name, parent.microsoft_id, null))
    return created ? Response.json(folderResource(boxes, user, created), { status: 201 }) : folderNotFound()
  }

  const withFolder = (act: (request: Routed, id: string) => Response) => (request: Routed) => {
    const folder = boxes.folder(requestUser(request), request.params.folder ?? '')
    return folder ? act(request, folder.microsoft_id) : folderNotFound()
  }
  const shownFolder = withFolder((request, id) => {
    const row = boxes.folder(requestUser(request), id)
    return row ? Response.json(folderResource(boxes, requestUser(request), row)) : folderNotFound()
  })
  const isTaken = (user: string, parent: string | null, name: string, id: string) =>
    boxes
      .folders(user)
      .some((row) => row.parent_folder_id === parent && row.display_name === name && row.microsoft_id !== id)
  const folderExists = () => graphError(409, 'ErrorFolderExists', 'A folder with the specified name already exists.')
  const renameFolder = withFolder((request, id) => {
    const { parent_folder_id: parent = null } = boxes.folder(requestUser(request), id) ?? {}
    if (isTaken(requestUser(request), parent, String(body(request).displayName ?? ''), id)) return folderExists()
    boxes.renameFolder(requestUser(request), id, String(body(request).displayName ?? ''))
    return shownFolder(request) as Response
  })
  const moveFolder = withFolder((request, id) => {
    const user = requestUser(request)
    const to = boxes.folder(user, String(body(request).destinationId ?? ''))
    if (!to) return folderNotFound()
    if (isTaken(user, to.microsoft_id, boxes.folder(user, id)?.display_name ?? '', id)) return folderExists()
    boxes.moveFolder(user, id, to.microsoft_id)
    return Response.json(findShown(user, id), { status: 201 })
  })
  const findShown = (user: string, id: string) => {
    const row = boxes.folder(user, id)
    return row && folderResource(boxes, user, row)
  }
  const deleteFolder = withFolder((request, id) => {
    if (PROTECTED.includes(boxes.folder(requestUser(request), id)?.well_known_name ?? ''))
      return graphError(403, 'ErrorDeleteDistinguishedFolder', 'Distinguished folders cannot be deleted.')
    boxes.deleteFolder(requestUser(request), id)
    return new Response(null, { status: 204 })
  })

  const drafts = createDrafts(emulator, boxes)
  const patch = withMessage(async (request, id) => {
    const user = requestUser(request)
    const content = body(request)
    if (DRAFT_CONTENT.some((name) => name in content)) {
      const refused = await drafts.edit(user, id, content)
      if (refused) return refused
    }
    const { isRead, flag, categories } = content as {
      isRead?: boolean
      flag?: { flagStatus?: string }
      categories?: string[]
    }
    if (isRead !== undefined) boxes.markRead(user, id, isRead)
    if (flag) boxes.flag(user, id, flag.flagStatus === 'flagged')
    if (categories) boxes.categorise(user, id, categories)
    return sendOne(request, id)
  })
  const move = withMessage(async (request, id) => {
    const moved = boxes.move(requestUser(request), id, String(body(request).destinationId ?? ''))
    return moved ? sendOne(request, id, 201) : folderNotFound()
  })
  /** Exchange does not say that a message was deleted before: it refuses. */
  const removal = (act: (user: string, id: string, folder: string) => void) => (request: Routed) => {
    const user = requestUser(request)
    const id = boxes.find(user, request.params.id ?? '')
    const found = boxes.messages(user).find((row) => row.microsoft_id === id)
    const isPurged = found?.parent_folder_id === boxes.folder(user, 'recoverableitemsdeletions')?.microsoft_id
    if (isPurged || boxes.wasDeleted(request.params.id ?? '')) return cannotDelete()
    if (found === undefined) return itemNotFound()
    act(user, found.microsoft_id, found.parent_folder_id)
    return new Response(null, { status: 204 })
  }
  /** Moves to Deleted Items; deletes permanently from there. */
  const remove = removal((user, id, folder) => {
    if (folder === boxes.folder(user, 'deleteditems')?.microsoft_id) boxes.delete(user, id)
    else boxes.move(user, id, 'deleteditems')
  })
  const purge = removal((user, id) => boxes.delete(user, id))
  const removeForGood = (request: Routed) => (deps.isWorldwide() ? purge(request) : noSegment('permanentDelete'))

  const forAttachment = (last: string) =>
    withMessage(async (request, id) => {
      const response = await emulator.request(
        `${ME}/messages/${id}/attachments${last === '' ? '' : `/${request.params.attachment}`}`,
        { user: requestUser(request) },
      )
      if (!response.ok) return itemNotFound()
      if (last !== 'value') return response
      const { contentBytes, contentType } = (await response.json()) as { contentBytes: string; contentType: string }
      return new Response(Buffer.from(contentBytes, 'base64'), { headers: { 'content-type': contentType } })
    })

  const mime = withMessage(
    (_, id) => new Response(new Uint8Array(boxes.rawOf(id)), { headers: { 'content-type': 'text/plain' } }),
  )

  return [
    ...sendRoutes({ ...deps, emulator, boxes, drafts, show: sendOne }),
    ...attachmentRoutes({ ...deps, emulator, boxes, onChange: drafts.compose }),
    { method: 'GET', pattern: ME, handle: showMe },
    { method: 'GET', pattern: `${ME}/mailFolders`, handle: children },
    { method: 'POST', pattern: `${ME}/mailFolders`, handle: createFolder },
    { method: 'GET', pattern: `${ME}/mailFolders/delta`, handle: folderDelta },
    { method: 'GET', pattern: `${ME}/mailFolders/{folder}`, handle: shownFolder },
    { method: 'PATCH', pattern: `${ME}/mailFolders/{folder}`, handle: renameFolder },
    { method: 'DELETE', pattern: `${ME}/mailFolders/{folder}`, handle: deleteFolder },
    { method: 'POST', pattern: `${ME}/mailFolders/{folder}/move`, handle: moveFolder },
    { method: 'GET', pattern: `${ME}/mailFolders/{folder}/childFolders`, handle: children },
    { method: 'POST', pattern: `${ME}/mailFolders/{folder}/childFolders`, handle: createFolder },
    { method: 'GET', pattern: `${ME}/mailFolders/{folder}/messages`, handle: listFolder },
    { method: 'GET', pattern: `${ME}/mailFolders/{folder}/messages/delta`, handle: delta },
    { method: 'GET', pattern: `${ME}/messages`, handle: (request) => list(request, `${ME}/messages`) },
    {
      method: 'GET',
      pattern: `${ME}/messages/{id}`,
      handle: withMessage((request, id) => sendOne(request, id)),
    },
    { method: 'PATCH', pattern: `${ME}/messages/{id}`, handle: patch },
    { method: 'DELETE', pattern: `${ME}/messages/{id}`, handle: remove },
    { method: 'POST', pattern: `${ME}/messages/{id}/move`, handle: move },
    { method: 'POST', pattern: `${ME}/messages/{id}/permanentDelete`, handle: removeForGood },
    { method: 'GET', pattern: `${ME}/messages/{id}/$value`, handle: mime },
    { method: 'GET', pattern: `${ME}/messages/{id}/attachments`, handle: forAttachment('') },
    { method: 'GET', pattern: `${ME}/messages/{id}/attachments/{attachment}`, handle: forAttachment('one') },
    { method: 'GET', pattern: `${ME}/messages/{id}/attachments/{attachment}/$value`, handle: forAttachment('value') },
  ]
}

/** The only filter that delta supports. Deletions and changes of `isRead` are reported regardless. */
function isLateEnough(message: MessageRow, query: URLSearchParams): boolean {
  const since = /receivedDateTime g[et] ([\w:.-]+)/.exec(query.get('$filter') ?? '')?.[1]
  return since === undefined || Date.parse(message.received_date_time) >= Date.parse(since)
}
