import type { Route, Routed } from '../fake/router.ts'
import { groupRoutes } from './contact-groups.ts'
import { badRequest, googleError, notFound, peopleQuota } from './errors.ts'
import { partial } from './fields.ts'
import { PeopleStore, type Person, parseName, personResource, READABLE, type StoredPerson } from './people-store.ts'
import { peopleWriteRoutes, sequentialChanges } from './people-writes.ts'

const PERSON = '/v1/people/{person}'
const WEEK_MS = 7 * 86_400_000
const MAX_PAGE = 1000

/** What one user may do in a minute. Without limits until a test sets them. */
export interface PeopleLimits {
  /** Google's default is 90. */
  reads?: number
  /** First pages of a full sync. */
  fullSyncs?: number
}

/** Changes by a test to the contacts of a user, effective at once. A contact is identified by its resource name. */
export interface GooglePeople {
  /** Creates a contact, or replaces the fields of one. Returns its resource name. */
  put(user: string, fields: Person, resourceName?: string): string
  get(user: string, resourceName: string): Person | undefined
  all(user: string): string[]
  remove(user: string, resourceName: string): void
  /** Google gives the contact another resource name, as when its address becomes that of a Google account. */
  rename(user: string, resourceName: string, to: string): void
  setPhoto(user: string, resourceName: string, photo: Buffer): void
  /** Returns the resource name. */
  addGroup(user: string, name: string): string
  groups(user: string): { resourceName: string; name: string; members: string[] }[]
  /** Makes the API refuse every sync token issued so far. */
  expireSyncTokens(user: string): void
  /** From now on, lists show no further writes, as Google documents for some minutes; false ends that. */
  holdSync(user: string, held: boolean): void
  limits: PeopleLimits
  /** Clock of the age of sync tokens, in ms. */
  now: () => number
  /** Another address in the next photo that the API names. */
  photoUrl: string | undefined
}

/** People v1: contacts with sync tokens, their groups and photos. */
export function googlePeople(origin: () => string): { routes: Route[]; people: GooglePeople } {
  const sequential = sequentialChanges()
  const stores = new Map<string, PeopleStore>()
  const spent = new Map<string, number[]>()

  function getStore(user: string): PeopleStore {
    const store = stores.get(user) ?? new PeopleStore()
    stores.set(user, store)
    return store
  }

  function required(user: string, resourceName: string): StoredPerson {
    const person = getStore(user).find(resourceName)
    if (person === undefined) throw new Error(`${user} has no contact ${resourceName}`)
    return person
  }

  /** Whether the user may do this once more within the minute. */
  function mayDo(user: string, what: keyof PeopleLimits): boolean {
    const key = `${user} ${what}`
    const recent = (spent.get(key) ?? []).filter((at) => at > performance.now() - 60_000)
    const isAllowed = recent.length < (people.limits[what] ?? Number.POSITIVE_INFINITY)
    if (isAllowed) recent.push(performance.now())
    spent.set(key, recent)
    return isAllowed
  }

  const show = (person: StoredPerson, mask: readonly string[], isSync = false) => {
    const shown = personResource(person, mask, { isSync, origin: origin() })
    const [photo] = (shown.photos ?? []) as { url: string }[]
    if (photo !== undefined && people.photoUrl !== undefined) photo.url = people.photoUrl
    return shown
  }

  function list(request: Routed): Response {
    const { url, params } = request
    const user = request.user ?? ''
    if (params.person !== 'me') return badRequest('Resource name must be "people/me".')
    const mask = readMask(url, 'personFields')
    if (mask instanceof Response) return mask
    if (!mayDo(user, 'reads')) return peopleQuota('Critical read requests (Contact and Profile Reads)')
    const listing = readListing(url, people.now())
    if (listing instanceof Response) return listing
    const store = getStore(user)
    const isFirst = listing.since === null && listing.after === ''
    if (isFirst && listing.isSync && !mayDo(user, 'fullSyncs')) return peopleQuota('Full sync requests')
    const isExpired =
      listing.hasToken && (listing.issued < store.horizon || listing.fullSyncAt < people.now() - WEEK_MS)
    if (isExpired) return expiredToken()
    return respond(
      listPage(store, listing, (person) => show(person, mask, listing.since !== null)),
      url,
    )
  }

  function get(request: Routed): Response {
    const { url, params } = request
    const user = request.user ?? ''
    const mask = readMask(url, 'personFields')
    if (mask instanceof Response) return mask
    if (!mayDo(user, 'reads')) return peopleQuota('Critical read requests (Contact and Profile Reads)')
    const person = getStore(user).find(`people/${params.person}`)
    return person === undefined ? notFound() : respond(show(person, mask), url)
  }

  function photo({ params }: Routed): Response {
    const sourceId = params.id?.split('-')[0]
    const found = [...stores.values()].flatMap((store) => store.all()).find((person) => person.sourceId === sourceId)
    if (found?.photo === undefined) return new Response('Not found', { status: 404 })
    return new Response(new Uint8Array(found.photo), { headers: { 'content-type': 'image/jpeg' } })
  }

  const people: GooglePeople = {
    put(user, fields, resourceName) {
      const store = getStore(user)
      const named = { ...fields, ...(fields.names && { names: fields.names.map(parseName) }) }
      if (resourceName === undefined) return store.create(named).resourceName
      const person = required(user, resourceName)
      person.fields = { ...named, memberships: fields.memberships ?? person.fields.memberships ?? [] }
      store.touch(person)
      return person.resourceName
    },
    get: (user, resourceName) => getStore(user).find(resourceName)?.fields,
    all: (user) =>
      getStore(user)
        .all()
        .filter(({ isDeleted }) => !isDeleted)
        .map(({ resourceName }) => resourceName),
    remove: (user, resourceName) => getStore(user).remove(required(user, resourceName)),
    rename(user, resourceName, to) {
      const person = required(user, resourceName)
      person.previousNames.push(person.resourceName)
      person.resourceName = to
      getStore(user).touch(person)
    },
    setPhoto(user, resourceName, photo) {
      const person = required(user, resourceName)
      person.photo = photo
      getStore(user).touch(person)
    },
    addGroup(user, name) {
      const store = getStore(user)
      const id = `g${store.groups.size}${++store.version}`
      store.groups.set(id, { id, name, formattedName: name, isSystem: false, version: store.version })
      return `contactGroups/${id}`
    },
    groups(user) {
      const store = getStore(user)
      return [...store.groups.values()].map(({ id, name }) => ({
        resourceName: `contactGroups/${id}`,
        name,
        members: store.membersOf(id).map(({ resourceName }) => resourceName),
      }))
    },
    expireSyncTokens(user) {
      getStore(user).horizon = ++getStore(user).version
    },
    holdSync(user, held) {
      const store = getStore(user)
      store.heldAt = held ? store.version : undefined
    },
    limits: {},
    now: () => Date.now(),
    photoUrl: undefined,
  }

  return {
    routes: [
      { method: 'GET', pattern: `${PERSON}/connections`, handle: list },
      { method: 'GET', pattern: PERSON, handle: get },
      { method: 'GET', pattern: '/contacts-photos/{id}/s100/photo.jpg', handle: photo, signedIn: false },
      ...peopleWriteRoutes({ getStore, sequential, show }),
      ...groupRoutes(getStore, sequential),
    ],
    people,
  }
}

/** A field mask of the query: names, separated by commas. */
export function readMask(url: URL, name: string, allowed: readonly string[] = READABLE): string[] | Response {
  const text = url.searchParams.get(name) ?? ''
  const mask = text.split(',').filter(Boolean)
  if (mask.length === 0) return badRequest(`${name} mask is required. Please specify one or more valid paths.`)
  const invalid = mask.find((path) => !allowed.includes(path))
  return invalid === undefined ? mask : badRequest(`Invalid ${name} mask path: "${invalid}".`)
}

export function respond(body: object, url: URL): Response {
  const shown = partial(body, url.searchParams.get('fields'))
  return shown === undefined ? badRequest('Invalid field selection') : Response.json(shown)
}

/** The state that both tokens carry. */
interface Listing {
  isSync: boolean
  hasToken: boolean
  /** Changes after this version; null: everything. */
  since: number | null
  /** The version that the first page saw; -1 on it. */
  upTo: number
  /** The store's version when the token was issued. */
  issued: number
  fullSyncAt: number
  /** The position after the previous page. */
  after: string
  size: number
  /** The other parameters of the first request. */
  query: string
}

const TOKENS = ['pageToken', 'syncToken', 'fields', 'prettyPrint', 'alt']

function readListing({ searchParams: query }: URL, nowMs: number): Listing | Response {
  const size = Number(query.get('pageSize') ?? 100) || 100
  if (size > MAX_PAGE || size < 1) return badRequest(`Page size must be between 1 and ${MAX_PAGE}.`)
  const [syncToken, pageToken] = [query.get('syncToken'), query.get('pageToken')]
  const isSync = query.get('requestSyncToken') === 'true' || syncToken !== null
  if (isSync && query.has('sortOrder')) return badRequest('Sort order is not supported for sync requests.')
  const own = JSON.stringify([...query].filter(([name]) => !TOKENS.includes(name)).sort())
  const first = { since: null, upTo: -1, issued: 0, fullSyncAt: nowMs, after: '', query: own }
  const text = pageToken ?? syncToken
  const read = text === null ? first : parseToken(text)
  if (read === undefined) return badRequest('Request contains an invalid argument.')
  if (read.query !== own) {
    return badRequest('Request parameters must match the first call that provided the token.')
  }
  const isNewRound = pageToken === null && syncToken !== null
  return {
    ...read,
    ...(isNewRound && { since: read.upTo, upTo: -1, after: '' }),
    isSync,
    hasToken: text !== null,
    size,
  }
}

/** Listings are ordered by version, as contacts that were changed last come last. */
function listPage(store: PeopleStore, listing: Listing, show: (person: StoredPerson) => object): object {
  const { isSync, since, after, size, query, fullSyncAt } = listing
  const upTo = listing.upTo === -1 ? store.visibleVersion : listing.upTo
  const selected = store
    .all()
    .filter(({ version, isDeleted }) => version <= upTo && (since === null ? !isDeleted : version > since))
    .map((person) => ({ key: String(person.version).padStart(12, '0'), person }))
    .sort((left, right) => (left.key < right.key ? -1 : 1))
  const isDescending = query.includes('LAST_MODIFIED_DESCENDING')
  if (isDescending) selected.reverse()
  const rest = selected.filter(({ key }) => after === '' || (isDescending ? key < after : key > after))
  const page = rest.slice(0, size)
  const token = { since, upTo, issued: store.version, fullSyncAt, query }
  const next =
    rest.length > size
      ? { nextPageToken: writeToken({ ...token, after: page.at(-1)?.key ?? '' }) }
      : isSync && { nextSyncToken: writeToken({ ...token, since: null, after: '' }) }
  const total = since === null && { totalPeople: selected.length, totalItems: selected.length }
  return { ...(page.length > 0 && { connections: page.map(({ person }) => show(person)) }), ...next, ...total }
}

type Token = Omit<Listing, 'isSync' | 'hasToken' | 'size'>

const writeToken = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url')

function parseToken(text: string): Token | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Token
  } catch {
    return undefined
  }
}

/** Users report the status 400, in place of the documented reason's usual 410. */
function expiredToken(): Response {
  const message = 'Sync token is expired. Clear local cache and retry call without the sync token.'
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'EXPIRED_SYNC_TOKEN' }]
  return googleError(400, 'failedPrecondition', 'FAILED_PRECONDITION', message, { details })
}
