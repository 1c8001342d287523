import { type Html, html } from '../../platform/formats/html.ts'
import { ICONS } from './icons.ts'
import type { Translate } from './texts/index.ts'

/** Validation errors of a form: one text per field name, or one for the form as a whole. */
export interface FormErrors {
  fields: Readonly<Record<string, string>>
  /** An error of several fields together, with a code that the user can quote to support. */
  form?: { code: string; title: string; text: string; fields: readonly string[] } | undefined
}

export const NO_ERRORS: FormErrors = { fields: {} }

interface FieldParts {
  name: string
  label: string
  errors: FormErrors
  hint?: string | undefined
  /** Screen readers announce its error at once. For a form of one field, which shows no summary. */
  alert?: boolean
}

interface TextField extends FieldParts {
  value: string
  type?: 'text' | 'email' | 'password' | 'url'
  placeholder?: string | undefined
  autocomplete?: string
  inputmode?: 'numeric' | 'email' | 'url'
  required?: boolean
  /** Id of a datalist with suggestions. */
  list?: string
  focus?: boolean
  maxLength?: number
}

export function textField(t: Translate, field: TextField): Html {
  const { name, errors } = field
  const input = html`<input id="${name}" name="${name}" dir="ltr" type="${field.type ?? 'text'}" value="${field.value}" autocomplete="${
    field.autocomplete ?? 'off'
  }" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="${field.maxLength ?? 255}"${
    field.placeholder !== undefined && html` placeholder="${field.placeholder}"`
  }${field.inputmode !== undefined && html` inputmode="${field.inputmode}"`}${field.required && html` required`}${
    field.list !== undefined && html` list="${field.list}"`
  }${field.focus && html` autofocus`}${described(name, errors, field.hint)}>`
  return html`<div class="field">${renderLabel(field)}${
    field.type === 'password'
      ? html`<div class="secret">${input}<button class="reveal" type="button" data-reveal="${name}" aria-controls="${name}" aria-label="${t('password.showIt')}" data-show="${t('password.show')}" data-hide="${t('password.hide')}" data-show-label="${t('password.showIt')}" data-hide-label="${t('password.hideIt')}" hidden>${t('password.show')}</button></div>`
      : input
  }${below(field)}</div>`
}

interface SelectField extends FieldParts {
  value: string
  options: readonly { value: string; label: string }[]
}

export function selectField(field: SelectField): Html {
  const options = field.options.map(
    (option) =>
      html`<option value="${option.value}"${option.value === field.value && html` selected`}>${option.label}</option>`,
  )
  return html`<div class="field">${renderLabel(field)}<div class="select"><select id="${field.name}" name="${field.name}"${described(
    field.name,
    field.errors,
    field.hint,
  )}>${options}</select></div>${below(field)}</div>`
}

export function checkField(field: FieldParts & { checked: boolean }): Html {
  return html`<div class="field check"><input id="${field.name}" name="${field.name}" type="checkbox" value="true"${
    field.checked && html` checked`
  }${described(field.name, field.errors, field.hint)}><label for="${field.name}">${field.label}</label>${below(field)}</div>`
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** Precedes the form. Screen readers announce it when the page opens, and it links to each invalid field. */
export function errorSummary(t: Translate, errors: FormErrors): Html | undefined {
  const names = Object.keys(errors.fields)
  if (errors.form !== undefined) {
    const { code, title, text } = errors.form
    return html`<div class="alert" id="form-error" role="alert" data-code="${code}">${ICONS.alert}<div><h2>${title}</h2><p>${text}</p></div></div>`
  }
  if (names.length === 0) return undefined
  return html`<div class="alert" role="alert">${ICONS.alert}<div><h2>${
    names.length === 1 ? t('invalid.summary') : t('invalid.summaryMany', { count: String(names.length) })
  }</h2><ul>${names.map((name) => html`<li><a href="#${name}">${errors.fields[name]}</a></li>`)}</ul></div></div>`
}

function renderLabel(field: FieldParts): Html {
  return html`<label for="${field.name}">${field.label}</label>`
}

/** The first invalid field, which gets the focus. */
export function firstInvalid(errors: FormErrors): string | undefined {
  return errors.form?.fields[0] ?? Object.keys(errors.fields)[0]
}

function described(name: string, errors: FormErrors, hint: string | undefined): Html {
  const ids: string[] = []
  if (errors.fields[name] !== undefined) ids.push(`${name}-error`)
  if (errors.form?.fields.includes(name)) ids.push('form-error')
  const isInvalid = ids.length > 0
  if (hint !== undefined) ids.push(`${name}-hint`)
  return html`${isInvalid && html` aria-invalid="true"`}${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${
    firstInvalid(errors) === name && html` autofocus`
  }`
}

function below(field: FieldParts): Html {
  const error = field.errors.fields[field.name]
  return html`${error !== undefined && html`<p class="error" id="${field.name}-error"${field.alert && html` role="alert"`}>${ICONS.alert}<span>${error}</span></p>`}${
    field.hint !== undefined && html`<p class="hint" id="${field.name}-hint">${field.hint}</p>`
  }`
}
