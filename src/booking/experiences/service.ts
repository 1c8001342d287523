import { accountQueries } from '../../accounts/index.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { generateSigningSecret } from '../../platform/crypto/signature.ts'
import type { Db, Handle, Tx } from '../../platform/db/index.ts'
import { AppError, invalidFields } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import type { Ids } from '../../platform/ids.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { findMailLimits, type MailLimit } from '../guests/limit-report.ts'
import type { ExperienceRow } from '../tables.ts'
import type { CreateBody, ExperienceView, PublicExperience, UpdateBody } from './api.ts'
import { type Experience, experienceContext, openExperience } from './experience.ts'
import { type Changes, changed, checkInput, DEFAULTS, namedAccounts, storedAccounts } from './input.ts'
import { experienceStore, missing } from './store.ts'
import { experienceView, publicView } from './views.ts'

export interface ExperienceDeps {
  db: Db
  clock: Clock
  ids: Ids
  sealer: Sealer
  guard: AddressGuard
  /** The service's address, without a trailing slash. */
  publicUrl: string
}

/** Experiences as the API manages them, and as the other parts of the scheduler read them. */
export interface Experiences {
  list(query: PageQuery): Promise<Page<ExperienceView>>
  get(slug: string): Promise<ExperienceView>
  /** Reads an active experience. Throws not_found. */
  getPublic(slug: string): Promise<PublicExperience>
  /** Throws validation_failed. The returned function inserts; it throws conflict when the slug is taken. */
  create(body: CreateBody): Promise<(tx: Tx) => Promise<ExperienceView>>
  /** `also` runs in the transaction of the change. */
  update(slug: string, body: UpdateBody, also?: (tx: Tx) => Promise<void>): Promise<ExperienceView>
  /** With decrypted secrets. Undefined for an unknown or inactive one. */
  findActive(slug: string): Promise<Experience | undefined>
  /** As `findActive`. Throws not_found. */
  getActive(slug: string): Promise<Experience>
  /** Also an inactive one: its bookings remain. */
  findById(id: string): Promise<Experience | undefined>
  /** Reads the origins of pages that may use the public endpoints. Empty for an unknown or inactive experience. */
  allowedOrigins(slug: string): Promise<readonly string[]>
}

const LIST = ['scheduler/experiences']

export function experiences(deps: ExperienceDeps): Experiences {
  const { db, clock, ids, sealer, guard, publicUrl } = deps
  const open = (row: ExperienceRow) => openExperience(row, sealer)
  const view = (experience: Experience, limits: ReadonlyMap<string, MailLimit> = new Map()) =>
    experienceView(experience, publicUrl, limits.get(experience.id))
  const readLimits = (handle: Handle, rows: readonly ExperienceRow[]) =>
    findMailLimits(
      handle,
      rows.map(({ id }) => id),
      clock.now(),
    )

  function toRow(id: string, slug: string, { isActive, definition, secrets, ...rest }: Changes, createdAt: number) {
    return {
      ...rest,
      id,
      slug,
      createdAt,
      isActive: Number(isActive),
      definition: JSON.stringify(definition),
      secrets: sealer.seal(JSON.stringify(secrets), experienceContext(id)),
      updatedAt: clock.now(),
    }
  }

  /** Ids that the experience has already may stay, although their accounts were deleted meanwhile. */
  async function checkAccounts(body: UpdateBody, stored: readonly string[]): Promise<void> {
    const named = namedAccounts(body).filter(({ id }) => !stored.includes(id))
    const existing = await accountQueries(db.read).existing([...new Set(named.map(({ id }) => id))])
    const unknown = named.filter(({ id }) => !existing.has(id))
    if (unknown.length === 0) return
    throw invalidFields(unknown.map(({ path }) => ({ path, message: 'is not the id of an account' })))
  }

  async function findActiveRow(slug: string): Promise<ExperienceRow | undefined> {
    const row = await experienceStore(db.read).find(slug)
    return row?.isActive === 1 ? row : undefined
  }

  async function findActive(slug: string): Promise<Experience | undefined> {
    const row = await findActiveRow(slug)
    return row && open(row)
  }

  async function getActive(slug: string): Promise<Experience> {
    return (await findActive(slug)) ?? missing(slug)
  }

  return {
    async list(query) {
      const store = experienceStore(db.read)
      const request = pageRequest(query, LIST, ['text'])
      const { limit, offset, after: [after] = [] } = request
      const rows = await store.page({ limit, offset, ...(after !== undefined && { after }) })
      const page = buildPage(rows, request, await store.count(), LIST, (row) => [row.id])
      const limits = await readLimits(db.read, page.items)
      return { ...page, items: page.items.map((row) => view(open(row), limits)) }
    },

    async get(slug) {
      const row = (await experienceStore(db.read).find(slug)) ?? missing(slug)
      return view(open(row), await readLimits(db.read, [row]))
    },

    findActive,
    getActive,

    async getPublic(slug) {
      return publicView(await getActive(slug))
    },

    async create(body) {
      await checkInput(body, guard)
      await checkAccounts(body, [])
      const callbackSecret = generateSigningSecret()
      const made = changed({ ...DEFAULTS, name: body.name, secrets: { callbackSecret, endpoints: {} } }, body)
      const row = toRow(ids('exp'), body.slug, made, clock.now())
      return async (tx) => {
        if (!(await experienceStore(tx).insert(row))) {
          throw new AppError('conflict', { message: `An experience with the slug "${body.slug}" already exists.` })
        }
        return { ...view(open(row)), callbackSecret }
      }
    },

    async update(slug, body, also) {
      const current = open((await experienceStore(db.read).find(slug)) ?? missing(slug))
      await checkInput(body, guard)
      await checkAccounts(body, storedAccounts(current.definition))
      return db.transaction(async (tx) => {
        const store = experienceStore(tx)
        const current = open(await store.lock(slug, db.dialect))
        const row = toRow(current.id, slug, changed(current, body), current.createdAt)
        await store.update(current.id, row)
        await also?.(tx)
        return view(open(row), await readLimits(tx, [row]))
      })
    },

    async findById(id) {
      const row = await experienceStore(db.read).findById(id)
      return row && open(row)
    },

    async allowedOrigins(slug) {
      const row = await findActiveRow(slug)
      return row === undefined ? [] : JSON.parse(row.definition).allowedOrigins
    },
  }
}
