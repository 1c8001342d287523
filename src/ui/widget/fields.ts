/** The fields of the booking form, and what a guest entered in them. */
import type { TextKey, Translate } from './texts/index.ts'

export interface FormField {
  name: string
  label: string
  type: 'text' | 'email' | 'phone' | 'textarea' | 'select' | 'multiselect' | 'checkbox'
  required?: boolean
  placeholder?: string
  options?: { value: string; label: string }[]
}

export interface BookingForm {
  title?: string
  description?: string
  submitButtonLabel?: string
  fields?: FormField[]
  /** A code that is sent to the guest's address is needed. */
  verifyEmail?: boolean
}

/** Text, the values of a multiselect, or whether a box is checked. */
export type Value = string | string[] | boolean
export type Values = Readonly<Record<string, Value>>
/** Messages by the name of the field. */
export type Errors = Readonly<Record<string, string>>

/** The fields whose answers are the guest. An experience replaces them with fields of the same name. */
export const GUEST = ['name', 'email']

/** Every field of the form in its order: the guest's name and address first, unless the experience has its own. */
export function buildFields(form: BookingForm | null | undefined, t: Translate): FormField[] {
  const own = (form?.fields ?? []).filter((field) => typeof field?.name === 'string' && field.name !== '')
  const has = (name: string) => own.some((field) => field.name === name)
  const standard: FormField[] = [
    { name: 'name', label: t('name'), type: 'text', required: true },
    { name: 'email', label: t('email'), type: 'email', required: true },
  ]
  return [
    ...standard.filter(({ name }) => !has(name)),
    // A booking needs an address and a name, whatever the experience says.
    ...own.map((field) => (GUEST.includes(field.name) ? { ...field, required: true } : field)),
  ]
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
/** As the API. */
const PHONE = /^\+?[\d\s().\-/]{3,40}(?:\s*(?:x|ext\.?)\s*\d{1,8})?$/i

/** The messages of the fields that are not right. */
export function findErrors(fields: readonly FormField[], values: Values, t: Translate): Errors {
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const key = findError(field, values[field.name])
    if (key !== undefined) errors[field.name] = t(key)
  }
  return errors
}

function findError(field: FormField, value: Value | undefined): TextKey | undefined {
  const isEmpty =
    value === undefined ||
    value === false ||
    (typeof value === 'string' ? value.trim() === '' : Object(value).length === 0)
  if (isEmpty) return field.required ? requiredText(field) : undefined
  const text = String(value).trim()
  if (field.type === 'email' && !EMAIL.test(text)) return 'invalidEmail'
  if (field.type === 'phone' && !PHONE.test(text)) return 'invalidPhone'
  return undefined
}

/** The instruction for a field that is empty. */
export function requiredText({ type, options }: FormField): TextKey {
  if (type === 'checkbox') return 'requiredCheck'
  return options === undefined ? 'required' : 'requiredChoice'
}

/** The answers to the questions of the experience. Empty ones are omitted. */
export function toResponses(form: BookingForm | null | undefined, values: Values): Record<string, unknown> {
  const responses: Record<string, unknown> = {}
  for (const { name, type } of form?.fields ?? []) {
    const value = values[name]
    if (type === 'checkbox') responses[name] = value === true
    else if (typeof value === 'string' && value.trim() !== '') responses[name] = value.trim()
    else if (Array.isArray(value) && value.length > 0) responses[name] = value
  }
  return responses
}

export const readText = (values: Values, name: string): string => {
  const value = values[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** Values that the page gives, by attribute `prefill-<field>`, compared without case and separators. */
export function prefilled(fields: readonly FormField[], prefill: Readonly<Record<string, string>>): Values {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '')
  const values: Record<string, Value> = {}
  const byName = new Map<string, FormField>()
  for (const field of fields) {
    if (!byName.has(plain(field.name))) byName.set(plain(field.name), field)
  }
  for (const [name, text] of Object.entries(prefill)) {
    const field = byName.get(plain(name))
    if (field !== undefined) values[field.name] = asValue(field, text)
  }
  return values
}

function asValue({ type, options = [] }: FormField, text: string): Value {
  if (type === 'checkbox') return text === 'true'
  const isOption = (value: string) => options.some((option) => option.value === value)
  if (type === 'multiselect')
    return text
      .split(',')
      .map((value) => value.trim())
      .filter(isOption)
  if (type === 'select') return isOption(text) ? text : ''
  return text
}
