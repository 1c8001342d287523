import type { Route, Routed } from '../fake/router.ts'
import {
  ADDRESSES,
  ContactStore,
  contactEtag,
  contactResource,
  LISTS,
  PROPERTIES,
  type StoredContact,
  shownId,
} from './contact-store.ts'
import { ChangeLog } from './delta.ts'
import { badRequest, graphError, itemNotFound } from './errors.ts'
import { type Resource, readView, skippedPage } from './resources.ts'

const ME = '/v1.0/me'
const FOLDER = `${ME}/contactFolders/{folder}`
/** Users report this limit of the delta query. */
const MAX_PAGE = 200
/** How many values Exchange stores, as users report it. */
const MOST: Record<string, number> = { businessPhones: 2, homePhones: 2, emailAddresses: 3, imAddresses: 3 }

/** Changes by a test to the contacts of a user, effective at once. A contact is identified by its immutable id. */
export interface MicrosoftContacts {
  defaultFolder(user: string): string
  /** Creates a contact in the default folder or another one, and returns its id; or changes the one with this id. */
  put(user: string, contact: Resource, target?: { folder?: string; id?: string }): string
  get(user: string, id: string): Resource | undefined
  all(user: string): string[]
  /** To the Deleted Items, as Outlook does. */
  remove(user: string, id: string): void
  move(user: string, id: string, folder: string): void
  /** Returns its id. `parent`: default the default folder. */
  addFolder(user: string, name: string, parent?: string): string
  removeFolder(user: string, id: string): void
  setPhoto(user: string, id: string, photo: Buffer): void
  expireDelta(user: string): void
}

/** Contacts of Graph v1.0: folders, lists, delta queries, changes and photos. */
export function microsoftContacts(): { routes: Route[]; contacts: MicrosoftContacts } {
  const stores = new Map<string, ContactStore>()
  const log = new ChangeLog()

  function getStore(user: string): ContactStore {
    const cached = stores.get(user)
    if (cached !== undefined) return cached
    const store = new ContactStore(({ id }, from, to) => {
      for (const key of new Set([from, to])) {
        if (key !== null) log.note(user, key, { id, wasId: id, ...(from !== to && { isIn: key === to }) })
      }
    })
    stores.set(user, store)
    return store
  }

  const storeOf = ({ user }: Routed) => getStore(user ?? '')
  const isImmutable = (request: Routed) => readView(request).immutable
  const find = (request: Routed): StoredContact | undefined => {
    const id = request.params.contact ?? ''
    return [...storeOf(request).contacts.values()].find(
      (contact) => contact.id === id || shownId(contact, false) === id,
    )
  }
  const shown = (request: Routed, contact: StoredContact, status = 200) =>
    Response.json(contactResource(contact, isImmutable(request)), { status })

  const inFolder =
    (act: (request: Routed, store: ContactStore, folderId: string) => Response | Promise<Response>) =>
    (request: Routed) => {
      const store = storeOf(request)
      const folder = store.folder(request.params.folder ?? 'contacts')
      return folder === undefined ? itemNotFound() : act(request, store, folder.id)
    }

  const getFolder = inFolder((_request, store, id) => Response.json(store.folders.get(id)))
  const children = inFolder((request, store, id) => skippedPage(request, store.children(id).map(copy), 10))

  const list = inFolder((request, store, folderId) => {
    const property = /singleValueExtendedProperties\/Any\(ep: ep\/id eq '([^']*)' and ep\/value eq '([^']*)'\)/i.exec(
      request.url.searchParams.get('$filter') ?? '',
    )
    const items = store
      .in(folderId)
      .filter(
        ({ properties }) =>
          !property || properties.some(({ id, value }) => id === property[1] && value === property[2]),
      )
    return skippedPage(
      request,
      items.map((contact) => contactResource(contact, isImmutable(request))),
      10,
    )
  })

  const delta = inFolder((request, store, folderId) => {
    const query = request.url.searchParams
    if (['$filter', '$orderby', '$search', '$expand', '$top'].some((name) => query.has(name))) {
      return badRequest('The query parameter is not supported with delta.')
    }
    const inside = () => store.in(folderId).map(({ id }) => id)
    const page = log.page(
      request,
      folderId,
      inside,
      async ({ id, hasLeft }, first) => {
        const contact = store.contacts.get(id)
        const removed = { '@removed': { reason: 'deleted' }, id }
        if (contact?.folderId !== folderId || hasLeft) return removed
        return selected(contactResource(contact, isImmutable(request)), first.get('$select'))
      },
      MAX_PAGE,
    )
    return page
  })

  const create = inFolder((request, store, folderId) => {
    const { singleValueExtendedProperties: properties = [], ...written } = parseBody(request)
    const fields = parseContact(written)
    if (fields instanceof Response) return fields
    return shown(request, store.create(folderId, fields, properties as StoredContact['properties']), 201)
  })

  /** Finds the contact, in whichever folder, and compares its version. */
  const onContact = (act: (request: Routed, contact: StoredContact) => Response) => (request: Routed) => {
    const contact = find(request)
    if (contact === undefined) return itemNotFound()
    const match = request.headers.get('if-match')
    if (match !== null && match !== '*' && match !== contactEtag(contact)) {
      return graphError(412, 'ErrorIrresolvableConflict', 'The change key does not match the current change key.')
    }
    return act(request, contact)
  }

  const get = onContact((request, contact) => shown(request, contact))

  const patch = onContact((request, contact) => {
    const fields = parseContact(parseBody(request), contact.fields)
    if (fields instanceof Response) return fields
    storeOf(request).change(contact, fields)
    return shown(request, contact)
  })

  const remove = onContact((request, contact) => {
    const store = storeOf(request)
    if (contact.folderId === store.deletedItems) store.contacts.delete(contact.id)
    else store.move(contact, store.deletedItems)
    return new Response(null, { status: 204 })
  })

  const photo = onContact((_request, contact) => {
    if (contact.photo === undefined) return itemNotFound()
    return new Response(new Uint8Array(contact.photo), { headers: { 'content-type': 'image/jpeg' } })
  })

  const required = (user: string, id: string): StoredContact => {
    const contact = getStore(user).contacts.get(id)
    if (contact === undefined) throw new Error(`${user} has no contact ${id}`)
    return contact
  }

  return {
    routes: [
      { method: 'GET', pattern: FOLDER, handle: getFolder },
      { method: 'GET', pattern: `${FOLDER}/childFolders`, handle: children },
      ...[`${ME}/contacts`, `${FOLDER}/contacts`].flatMap((pattern): Route[] => [
        { method: 'GET', pattern, handle: list },
        { method: 'POST', pattern, handle: create },
        { method: 'GET', pattern: `${pattern}/delta`, handle: delta },
        { method: 'GET', pattern: `${pattern}/{contact}`, handle: get },
        { method: 'PATCH', pattern: `${pattern}/{contact}`, handle: patch },
        { method: 'DELETE', pattern: `${pattern}/{contact}`, handle: remove },
        { method: 'GET', pattern: `${pattern}/{contact}/photo/$value`, handle: photo },
      ]),
    ],
    contacts: {
      defaultFolder: (user) => getStore(user).defaultFolder,
      put(user, contact, { folder, id } = {}) {
        const store = getStore(user)
        if (id === undefined) return store.create(folder ?? store.defaultFolder, contact).id
        store.change(required(user, id), contact)
        return id
      },
      get: (user, id) => getStore(user).contacts.get(id)?.fields,
      all(user) {
        const store = getStore(user)
        return [...store.folders.keys()].flatMap((folder) => store.in(folder).map(({ id }) => id))
      },
      remove: (user, id) => getStore(user).move(required(user, id), getStore(user).deletedItems),
      move: (user, id, folder) => getStore(user).move(required(user, id), folder),
      addFolder: (user, name, parent) => getStore(user).addFolder(name, parent ?? getStore(user).defaultFolder),
      removeFolder: (user, id) => getStore(user).removeFolder(id),
      setPhoto(user, id, bytes) {
        required(user, id).photo = bytes
        getStore(user).change(required(user, id), {})
      },
      expireDelta: (user) => log.expire(user),
    },
  }
}

const copy = (folder: object): Resource => ({ ...folder })
const parseBody = ({ body }: Routed): Resource => JSON.parse(body.toString() || '{}') as Resource

function selected(contact: Resource, select: string | null): Resource {
  const names = ['id', '@odata.etag', ...(select?.split(',') ?? PROPERTIES)]
  return Object.fromEntries(Object.entries(contact).filter(([name]) => names.includes(name)))
}

/** What a request sets. Null removes a value; the members of an address are replaced one by one. */
function parseContact(written: Resource, current: Resource = {}): Resource | Response {
  const fields: Resource = {}
  for (const [name, value] of Object.entries(written)) {
    if (!PROPERTIES.includes(name)) return badRequest(`The property '${name}' does not exist on type 'contact'.`)
    if (LISTS.includes(name)) {
      if (!Array.isArray(value)) return badRequest(`The property '${name}' is no collection.`)
      const most = MOST[name] ?? Number.POSITIVE_INFINITY
      if (value.length > most) return tooMany(name, value.length, most)
      fields[name] = value
    } else if (ADDRESSES.includes(name)) {
      const merged = { ...(current[name] as object), ...(value as object | null) }
      fields[name] = Object.fromEntries(Object.entries(merged).filter(([, part]) => part !== null && part !== ''))
    } else if (name === 'birthday') fields[name] = value === null ? null : `${String(value).slice(0, 10)}T11:59:00Z`
    else if (value !== null && typeof value !== 'string') return badRequest(`The property '${name}' is no text.`)
    else fields[name] = value
  }
  return fields
}

function tooMany(name: string, count: number, most: number): Response {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`
  const message = `The multi value property ${title} has ${count} entries, that exceeds the max allowed value of ${most}`
  return graphError(400, 'ErrorInvalidArgument', message)
}
