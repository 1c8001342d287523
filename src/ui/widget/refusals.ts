/** Texts for guests about refusals of the API: at a field by the path and the code of a detail, else by the code of the error. */
import type { ApiError, Detail } from './api.ts'
import { type Errors, type FormField, GUEST, requiredText } from './fields.ts'
import type { TextKey, Translate } from './texts/index.ts'

type TextsByCode = Readonly<Record<string, TextKey>>

/** Texts for errors that only the later steps have. */
export const STEP_TEXTS: TextsByCode = {
  mail_limited: 'tooManyMessages',
  payload_too_large: 'longAnswers',
}

/** The booking was cancelled meanwhile, has taken place, or is being moved by somebody else. */
export const MOVE_TEXTS: TextsByCode = {
  ...STEP_TEXTS,
  conflict: 'cannotMove',
  not_found: 'cannotMove',
}

/** By the code of a detail. */
const FIELD_TEXTS: TextsByCode = {
  too_long: 'tooLong',
  invalid_email: 'invalidEmail',
  invalid_phone: 'invalidPhone',
  invalid_option: 'requiredChoice',
  invalid_characters: 'badCharacters',
  contains_link: 'noLinks',
}

/** The messages of the fields that the API refuses. None if the error is about something else. */
export function refusedFields(details: readonly Detail[], fields: readonly FormField[], t: Translate): Errors {
  const errors: Record<string, string> = {}
  for (const { path, code = '' } of details) {
    const field = fieldAt(path, fields)
    if (field !== undefined)
      errors[field.name] ??= t(code === 'required' ? requiredText(field) : (FIELD_TEXTS[code] ?? 'invalid'))
  }
  return errors
}

/** Returns the text below the form. Undefined: as in the first step. */
export function formText({ code, details }: ApiError, fields: readonly FormField[]): TextKey | undefined {
  if (code !== 'validation_failed') return STEP_TEXTS[code]
  if (details.some(({ path }) => fieldAt(path, fields) !== undefined)) return 'invalidForm'
  if (details.some((detail) => detail.code === 'too_long')) return 'longAnswers'
  // A program has pressed the button and filled in the trap. A person can press it again.
  return details.some(({ path }) => path === 'body.website') ? 'failed' : undefined
}

/**
 * The field that an error of the API is about, by its path: `body.responses.company`, `body.guest.email`, or `body.email` of a request
 * for a code. Undefined if the form has no such field.
 */
function fieldAt(path: string, fields: readonly FormField[]): FormField | undefined {
  return fields.find(({ name }) => {
    const parents = GUEST.includes(name) ? ['body.responses', 'body.guest', 'body'] : ['body.responses']
    return parents.some((parent) => path === `${parent}.${name}`)
  })
}
