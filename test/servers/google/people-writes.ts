import type { Route, Routed } from '../fake/router.ts'
import { aborted, badRequest, failedPrecondition, notFound } from './errors.ts'
import { readMask, respond } from './people.ts'
import {
  type Field,
  groupIds,
  type PeopleStore,
  type Person,
  parseName,
  SINGLETONS,
  type StoredPerson,
  sourceEtag,
  WRITABLE,
} from './people-store.ts'

/** Groups of the system to which contacts can be added. */
const JOINABLE = ['myContacts', 'starred']
/** How long Google works on a change. Another one of the same user meanwhile is refused. */
const CHANGE_MS = 2

interface WriteDeps {
  getStore(user: string): PeopleStore
  sequential: Sequential
  show(person: StoredPerson, mask: readonly string[]): object
}

/** Changes of contacts. Google documents that those of one user have to be sent one after the other. */
export function peopleWriteRoutes({ getStore, sequential, show }: WriteDeps): Route[] {
  function create(request: Routed): Response {
    const mask = readMask(request.url, 'personFields')
    if (mask instanceof Response) return mask
    const store = getStore(request.user ?? '')
    const fields = parseBody(request).fields
    const problem = findProblem(fields) ?? findGroupProblem(store, fields, [])
    return problem ?? respond(show(store.create(fields), mask), request.url)
  }

  function update(request: Routed): Response {
    const store = getStore(request.user ?? '')
    const mask = readMask(request.url, 'updatePersonFields', WRITABLE)
    if (mask instanceof Response) return mask
    const shown = readMask(request.url, 'personFields')
    if (shown instanceof Response) return shown
    const person = store.find(resourceName(request))
    if (person === undefined) return notFound()
    const { fields, etags } = parseBody(request)
    if (etags.length === 0) {
      return badRequest(
        'Request must set person.etag or person.metadata.sources.etag for the source that is being updated.',
      )
    }
    if (!etags.includes(sourceEtag(person))) {
      const message =
        'Request person.metadata.sources.etag is different than the current person.metadata.sources.etag. Clear local cache and get the latest person.'
      return failedPrecondition(message)
    }
    const changes = Object.fromEntries(mask.map((name) => [name, fields[name] ?? []]))
    const problem = findProblem(changes) ?? findGroupProblem(store, changes, groupIds(person))
    if (problem !== undefined) return problem
    person.fields = { ...person.fields, ...changes }
    store.touch(person)
    return respond(show(person, shown), request.url)
  }

  function remove(request: Routed): Response {
    const store = getStore(request.user ?? '')
    const person = store.find(resourceName(request))
    if (person === undefined) return notFound()
    store.remove(person)
    return Response.json({})
  }

  return sequential([
    { method: 'POST', pattern: '/v1/people:createContact', handle: create },
    { method: 'PATCH', pattern: '/v1/people/{person}:updateContact', handle: update },
    { method: 'DELETE', pattern: '/v1/people/{person}:deleteContact', handle: remove },
  ])
}

/** Makes routes refuse a change while another one of the same user is in progress. */
export type Sequential = (routes: readonly Route[]) => Route[]

export function sequentialChanges(): Sequential {
  const busy = new Set<string>()
  return (routes) =>
    routes.map((route) => ({
      ...route,
      async handle(request) {
        const user = request.user ?? ''
        if (busy.has(user)) return aborted()
        busy.add(user)
        try {
          await new Promise((resolve) => setTimeout(resolve, CHANGE_MS))
          return await route.handle(request)
        } finally {
          busy.delete(user)
        }
      },
    }))
}

const resourceName = ({ params }: Routed): string => `people/${params.person}`

/** The writable fields of a person, and the etags of its contact source. Google ignores the others. */
function parseBody({ body }: Routed): { fields: Person; etags: string[] } {
  const written = JSON.parse(body.toString() || '{}') as Record<string, unknown> & {
    metadata?: { sources?: { type?: string; etag?: string }[] }
  }
  const fields = WRITABLE.flatMap((name) => {
    const values = written[name]
    return Array.isArray(values) ? [[name, (values as Field[]).map(stored)] as const] : []
  })
  const sources = written.metadata?.sources ?? []
  const person: Person = Object.fromEntries(fields)
  return {
    fields: { ...person, ...(person.names && { names: person.names.map(parseName) }) },
    etags: sources.flatMap(({ type, etag }) => (type === 'CONTACT' && etag !== undefined ? [etag] : [])),
  }
}

/** Without what is only for reading. */
function stored({ metadata: _metadata, formattedType: _type, displayNameLastFirst: _last, ...field }: Field): Field {
  return field
}

function findProblem(fields: Person): Response | undefined {
  const several = SINGLETONS.find((name) => (fields[name]?.length ?? 0) > 1)
  if (several !== undefined) return badRequest(`Only one ${several} can be specified for a contact source.`)
  for (const { date } of [...(fields.birthdays ?? []), ...(fields.events ?? [])]) {
    const { year = 0, month = 0, day = 0 } = (date ?? {}) as { year?: number; month?: number; day?: number }
    const parsed = new Date(Date.UTC(year || 2000, month - 1, day))
    if (month !== 0 && (parsed.getUTCMonth() !== month - 1 || parsed.getUTCDate() !== day)) {
      return badRequest('Invalid date.')
    }
  }
  return undefined
}

function findGroupProblem(store: PeopleStore, fields: Person, before: readonly string[]): Response | undefined {
  if (fields.memberships === undefined) return undefined
  const ids = groupIds({ fields })
  if (ids.length === 0) return badRequest('A contact must always have at least one contact group membership.')
  const unknown = ids.find((id) => !store.groups.has(id))
  if (unknown !== undefined) return badRequest(`Invalid contact group resource name: contactGroups/${unknown}.`)
  const closed = ids.find((id) => !before.includes(id) && store.groups.get(id)?.isSystem && !JOINABLE.includes(id))
  return closed === undefined ? undefined : badRequest(`Contacts can not be added to contactGroups/${closed}.`)
}
