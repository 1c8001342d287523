import { type ContactAddress, type ContactFields, ProviderError, type RemoteContact } from '../../contract/index.ts'
import { type Json, list, object, text } from '../../shared/rest/index.ts'
import { ADDRESSES, NO_YEAR, PHONES } from './map.ts'

/** Of each list, as Exchange stores them. */
const MOST = { emails: 3, phones: 2, imAddresses: 3 }

const TEXTS = {
  displayName: 'displayName',
  prefix: 'title',
  givenName: 'givenName',
  middleName: 'middleName',
  surname: 'surname',
  suffix: 'generation',
  nickname: 'nickName',
  companyName: 'companyName',
  department: 'department',
  jobTitle: 'jobTitle',
  managerName: 'manager',
  officeLocation: 'officeLocation',
  notes: 'personalNotes',
} as const
const NAMES = ['givenName', 'middleName', 'surname'] as const

/** The properties that a change sets. Those that do not change are left out. */
export function changedProperties(
  current: Json,
  before: RemoteContact,
  changes: Partial<ContactFields>,
  doing: string,
): Json {
  const has = (name: keyof ContactFields) =>
    changes[name] !== undefined && JSON.stringify(changes[name]) !== JSON.stringify(before[name])
  const after = { ...before, ...changes }
  const names = Object.keys(TEXTS) as (keyof typeof TEXTS)[]
  const texts = names.filter(has).map((name) => [TEXTS[name], after[name] === '' ? null : after[name]])
  const isRenamed = NAMES.some(has) && !has('displayName')
  const displayName = isRenamed ? keepDisplayName(text(current.displayName) ?? '', before, after) : after.displayName
  return {
    ...Object.fromEntries(texts),
    ...(isRenamed && { displayName: displayName || null }),
    ...(has('birthday') && { birthday: buildBirthday(after.birthday) }),
    ...(has('emails') && { emailAddresses: buildEmails(current, { ...after, displayName }, doing) }),
    ...(has('phoneNumbers') &&
      different(buildPhones(after.phoneNumbers, doing), buildPhones(before.phoneNumbers, doing))),
    ...(has('physicalAddresses') &&
      different(buildAddresses(after.physicalAddresses, doing), buildAddresses(before.physicalAddresses, doing))),
    ...(has('webPages') && { businessHomePage: buildWebPage(after.webPages, doing) }),
    ...(has('imAddresses') && { imAddresses: buildImAddresses(after.imAddresses, doing) }),
    ...(has('categories') && { categories: after.categories }),
  }
}

/**
 * Graph may replace the name that is shown when its parts change, unless the change names it. One that consists of the parts follows them,
 * any other remains.
 */
function keepDisplayName(shown: string, before: ContactFields, after: ContactFields): string {
  const build = (parts: ContactFields, names: readonly (typeof NAMES)[number][]) =>
    names.flatMap((name) => parts[name] || []).join(' ')
  const forms = [NAMES, NAMES.filter((name) => name !== 'middleName')]
  const form = forms.find((names) => build(before, names) === shown)
  return (form && build(after, form)) || shown
}

/** Noon is on the same day in most zones. */
function buildBirthday(birthday: string | null): string | null {
  return birthday === null ? null : `${birthday.replace(/^-/, NO_YEAR)}T11:59:00Z`
}

/** Graph keeps a name with each address, and no type. */
function buildEmails(current: Json, { emails, displayName }: ContactFields, doing: string): Json[] {
  requireAtMost(emails, MOST.emails, doing, 'emails')
  const known = new Map(
    list(current.emailAddresses).map((item) => [text(object(item).address)?.toLowerCase(), object(item)]),
  )
  return emails.map(({ email }) => {
    const { name } = known.get(email.toLowerCase()) ?? {}
    return { address: email, name: text(name) || displayName || email }
  })
}

function buildPhones(phones: ContactFields['phoneNumbers'], doing: string): Json {
  const numbers = (wanted: string) =>
    phones.filter(({ type }) => (type || 'work') === wanted).map(({ number }) => number)
  const unknown = phones.find(({ type }) => type !== '' && type !== 'mobile' && !Object.hasOwn(PHONES, type))
  if (unknown !== undefined) {
    throw unsupported(doing, 'phoneNumbers', `Microsoft has no type ${unknown.type}. Use work, home or mobile.`)
  }
  const mobile = numbers('mobile')
  requireAtMost(mobile, 1, doing, 'phoneNumbers', ' of the type mobile')
  for (const type of Object.keys(PHONES))
    requireAtMost(numbers(type), MOST.phones, doing, 'phoneNumbers', ` of the type ${type}`)
  const lists = Object.entries(PHONES).map(([type, name]) => [name, numbers(type)])
  return { mobilePhone: mobile[0] ?? null, ...Object.fromEntries(lists) }
}

/** Names every member, because Graph keeps those that a change leaves out. */
function buildAddresses(addresses: readonly ContactAddress[], doing: string): Json {
  const unknown = addresses.find(({ type }) => type !== '' && !Object.hasOwn(ADDRESSES, type))
  if (unknown !== undefined) {
    throw unsupported(doing, 'physicalAddresses', `Microsoft has no type ${unknown.type}. Use work, home or other.`)
  }
  const properties = Object.entries(ADDRESSES).map(([type, name]) => {
    const ofType = addresses.filter((address) => (address.type || 'other') === type)
    requireAtMost(ofType, 1, doing, 'physicalAddresses', ` of the type ${type}`)
    const [address] = ofType
    const value = {
      street: address?.streetAddress || null,
      city: address?.city || null,
      state: address?.state || null,
      postalCode: address?.postalCode || null,
      countryOrRegion: address?.country || null,
    }
    return [name, value]
  })
  return Object.fromEntries(properties)
}

/** The members of `after` that differ: Outlook may know more of a property than Graph shows. */
function different(after: Json, before: Json): Json {
  const isChanged = (name: string) => JSON.stringify(after[name]) !== JSON.stringify(before[name])
  return Object.fromEntries(Object.entries(after).filter(([name]) => isChanged(name)))
}

function buildWebPage(pages: ContactFields['webPages'], doing: string): string | null {
  requireAtMost(pages, 1, doing, 'webPages')
  return pages[0]?.url ?? null
}

function buildImAddresses(addresses: ContactFields['imAddresses'], doing: string): string[] {
  requireAtMost(addresses, MOST.imAddresses, doing, 'imAddresses')
  return addresses.map(({ imAddress }) => imAddress)
}

function requireAtMost(values: readonly unknown[], most: number, doing: string, field: string, what = ''): void {
  if (values.length <= most) return
  throw unsupported(doing, field, `Microsoft stores at most ${most}${what}. Send fewer.`)
}

function unsupported(doing: string, field: string, why: string): ProviderError {
  return new ProviderError('rejected', `${doing}: ${field}: ${why}`, { unsupported: true })
}
