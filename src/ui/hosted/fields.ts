import { type Html, html } from '../../lib/html.ts'
import { ICONS } from './icons.ts'

/** What is wrong with a form: one text per field name, or one for the whole. */
export interface FormFaults {
  fields: Readonly<Record<string, string>>
  /** A fault of several fields together, with its code for whoever is asked for help. */
  form?: { code: string; title: string; text: string; fields: readonly string[] } | undefined
}

export const NO_FAULTS: FormFaults = { fields: {} }

interface FieldParts {
  name: string
  label: string
  faults: FormFaults
  hint?: string | undefined
  /** Its fault is read out at once: for a form of one field, which has no summary. */
  alert?: boolean
}

export interface TextField extends FieldParts {
  value: string
  type?: 'text' | 'email' | 'password' | 'url'
  placeholder?: string | undefined
  autocomplete?: string
  inputmode?: 'numeric' | 'email' | 'url'
  required?: boolean
  /** Id of a datalist with proposals. */
  list?: string
  focus?: boolean
  maxLength?: number
}

export function textField(field: TextField): Html {
  const { name, faults } = field
  const input = html`<input id="${name}" name="${name}" type="${field.type ?? 'text'}" value="${field.value}" autocomplete="${
    field.autocomplete ?? 'off'
  }" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="${field.maxLength ?? 255}"${
    field.placeholder !== undefined && html` placeholder="${field.placeholder}"`
  }${field.inputmode !== undefined && html` inputmode="${field.inputmode}"`}${field.required && html` required`}${
    field.list !== undefined && html` list="${field.list}"`
  }${field.focus && html` autofocus`}${described(name, faults, field.hint)}>`
  return html`<div class="field">${labelOf(field)}${
    field.type === 'password'
      ? html`<div class="secret">${input}<button class="reveal" type="button" data-reveal="${name}" aria-controls="${name}" aria-label="Show password" hidden>Show</button></div>`
      : input
  }${below(field)}</div>`
}

export interface SelectField extends FieldParts {
  value: string
  options: readonly { value: string; label: string }[]
}

export function selectField(field: SelectField): Html {
  const options = field.options.map(
    (option) =>
      html`<option value="${option.value}"${option.value === field.value && html` selected`}>${option.label}</option>`,
  )
  return html`<div class="field">${labelOf(field)}<div class="select"><select id="${field.name}" name="${field.name}"${described(
    field.name,
    field.faults,
    field.hint,
  )}>${options}</select></div>${below(field)}</div>`
}

export function checkField(field: FieldParts & { checked: boolean }): Html {
  return html`<div class="field check"><input id="${field.name}" name="${field.name}" type="checkbox" value="true"${
    field.checked && html` checked`
  }${described(field.name, field.faults, field.hint)}><label for="${field.name}">${field.label}</label>${below(field)}</div>`
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** Stands before the form, is read out when the page opens, and leads to each faulty field. */
export function faultSummary(faults: FormFaults): Html | undefined {
  const names = Object.keys(faults.fields)
  if (faults.form !== undefined) {
    const { code, title, text } = faults.form
    return html`<div class="alert" id="form-fault" role="alert" data-code="${code}">${ICONS.alert}<div><h2>${title}</h2><p>${text}</p></div></div>`
  }
  if (names.length === 0) return undefined
  return html`<div class="alert" role="alert">${ICONS.alert}<div><h2>${
    names.length === 1 ? 'One thing needs your attention' : `${names.length} things need your attention`
  }</h2><ul>${names.map((name) => html`<li><a href="#${name}">${faults.fields[name]}</a></li>`)}</ul></div></div>`
}

function labelOf(field: FieldParts): Html {
  return html`<label for="${field.name}">${field.label}</label>`
}

/** The field that needs attention first; the cursor goes there. */
export function firstFaulty(faults: FormFaults): string | undefined {
  return faults.form?.fields[0] ?? Object.keys(faults.fields)[0]
}

function described(name: string, faults: FormFaults, hint: string | undefined): Html {
  const ids: string[] = []
  if (faults.fields[name] !== undefined) ids.push(`${name}-fault`)
  if (faults.form?.fields.includes(name)) ids.push('form-fault')
  const faulty = ids.length > 0
  if (hint !== undefined) ids.push(`${name}-hint`)
  return html`${faulty && html` aria-invalid="true"`}${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${
    firstFaulty(faults) === name && html` autofocus`
  }`
}

function below(field: FieldParts): Html {
  const fault = field.faults.fields[field.name]
  return html`${fault !== undefined && html`<p class="fault" id="${field.name}-fault"${field.alert && html` role="alert"`}>${fault}</p>`}${
    field.hint !== undefined && html`<p class="hint" id="${field.name}-hint">${field.hint}</p>`
  }`
}
