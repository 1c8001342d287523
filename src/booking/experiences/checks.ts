/** Checks of an experience that a schema cannot express. Each adds one error per fault, with its path. */
import { parseDay } from '../../platform/calendar/days.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import type { Availability, BookingForm, FormField, Override, RoutingRule } from './experience.ts'

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/
const DATE = /^\d{4}-\d\d-\d\d$/
const SLUG = /^[a-z0-9-]{3,64}$/

export function checkZone(path: string, name: string | undefined, errors: ErrorDetail[]): void {
  if (name === undefined || findZone(name) !== undefined) return
  errors.push({ path, message: 'must be the IANA name of a time zone, such as Europe/Berlin' })
}

export function checkAvailability(path: string, availability: Availability, errors: ErrorDetail[]): void {
  checkZone(`${path}.timezone`, availability.timezone, errors)
  for (const [index, hours] of (availability.openHours ?? []).entries()) {
    const at = `${path}.openHours.${index}`
    checkZone(`${at}.timezone`, hours.timezone, errors)
    checkTime(`${at}.start`, hours.start, errors)
    checkEnd(`${at}.end`, hours.end, errors)
  }
  for (const [index, override] of (availability.overrides ?? []).entries()) {
    checkOverride(`${path}.overrides.${index}`, override, errors)
  }
}

function checkOverride(path: string, override: Override, errors: ErrorDetail[]): void {
  const { date, start, end, closed } = override
  if (!DATE.test(date) || parseDay(date) === undefined) {
    errors.push({ path: `${path}.date`, message: 'must be a date such as 2026-01-31' })
  }
  if (closed === true) return
  if (start === undefined && end === undefined)
    errors.push({ path, message: 'must have start and end, or closed: true' })
  else if (start === undefined) errors.push({ path: `${path}.start`, message: 'is required with end' })
  else if (end === undefined) errors.push({ path: `${path}.end`, message: 'is required with start' })
  if (start !== undefined) checkTime(`${path}.start`, start, errors)
  if (end !== undefined) checkEnd(`${path}.end`, end, errors)
}

function checkTime(path: string, text: string, errors: ErrorDetail[]): void {
  if (!TIME.test(text)) errors.push({ path, message: 'must be a time such as 09:00' })
}

function checkEnd(path: string, text: string, errors: ErrorDetail[]): void {
  if (text !== '24:00' && !TIME.test(text)) errors.push({ path, message: 'must be a time such as 17:00, or 24:00' })
}

export function checkForm(path: string, form: BookingForm, errors: ErrorDetail[]): void {
  const fields = new Map<string, FormField>()
  for (const [index, field] of (form.fields ?? []).entries()) {
    const at = `${path}.fields.${index}`
    if (fields.has(field.name)) errors.push({ path: `${at}.name`, message: 'is the name of another field' })
    // Bodies lose members with these names when they are parsed, so no guest could answer.
    if (field.name === '__proto__' || field.name === 'constructor') {
      errors.push({ path: `${at}.name`, message: 'is reserved; choose another name' })
    }
    fields.set(field.name, field)
    checkOptions(at, field, errors)
  }
  for (const [index, rule] of (form.routing ?? []).entries()) {
    checkRule(`${path}.routing.${index}`, rule, fields, errors)
  }
}

function checkOptions(path: string, { type, options = [] }: FormField, errors: ErrorDetail[]): void {
  const isChoice = type === 'select' || type === 'multiselect'
  if (isChoice && options.length === 0) errors.push({ path: `${path}.options`, message: `is required for a ${type}` })
  const seen = new Set<string>()
  for (const [index, { value }] of options.entries()) {
    if (seen.has(value)) {
      errors.push({ path: `${path}.options.${index}.value`, message: 'is the value of another option' })
    }
    seen.add(value)
  }
}

function checkRule(
  path: string,
  rule: RoutingRule,
  fields: ReadonlyMap<string, FormField>,
  errors: ErrorDetail[],
): void {
  if (!fields.has(rule.when.field)) errors.push({ path: `${path}.when.field`, message: 'is not a field of this form' })
  if ((rule.when.equals === undefined) === (rule.when.in === undefined)) {
    errors.push({ path: `${path}.when`, message: 'must have either equals or in' })
  }
  const { accountIds, slug, redirectUrl } = rule
  if ([accountIds, slug, redirectUrl].filter((target) => target !== undefined).length !== 1) {
    errors.push({ path: path, message: 'must have one of accountIds, slug and redirectUrl' })
  }
  if (slug !== undefined && !SLUG.test(slug)) {
    errors.push({ path: `${path}.slug`, message: 'must be the slug of an experience' })
  }
  if (redirectUrl !== undefined && !isPageUrl(redirectUrl)) {
    errors.push({ path: `${path}.redirectUrl`, message: 'must be an http or https URL' })
  }
}

/** An address that a browser may be sent to. */
export function isPageUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

/** `https://app.example.com`, as browsers send it; `*` is every origin. */
export function checkOrigins(path: string, origins: readonly string[], errors: ErrorDetail[]): void {
  const seen = new Set<string>()
  for (const [index, origin] of origins.entries()) {
    const at = `${path}.${index}`
    if (seen.has(origin)) errors.push({ path: at, message: 'is a duplicate' })
    seen.add(origin)
    if (origin === '*') continue
    // The parser accepts `https://*.example.com`, which no browser sends.
    const own = isPageUrl(origin) && !origin.includes('*') ? new URL(origin).origin : undefined
    if (own === origin) continue
    const message = 'must be an origin such as https://app.example.com, or * for every origin'
    errors.push({ path: at, message: own === undefined ? message : `must be an origin and nothing more: ${own}` })
  }
}
