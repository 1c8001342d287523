import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { type Errors, type FormField, findErrors, type Value, type Values } from './fields.ts'
import { AlertIcon } from './icons.tsx'
import { Failure } from './notices.tsx'
import { formText, refusedFields } from './refusals.ts'
import type { TextKey } from './texts/index.ts'
import { useView } from './view.ts'

interface FormProps {
  fields: readonly FormField[]
  values: Values
  /** The error of the last submit. */
  error: ApiError | undefined
  isSubmitting: boolean
  submitLabel: string
  /** The key of the text that says what follows the form. */
  next: TextKey | undefined
  onValues(values: Values): void
  onSubmit(website: string): void
}

/** The fields, with the messages of the widget and of the API below them. */
export function BookingForm({ fields, values, error, isSubmitting, submitLabel, next, ...on }: FormProps) {
  const { onValues, onSubmit } = on
  const { t } = useView()
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const trap = useRef<HTMLInputElement>(null)
  /** A person pressed the button: then a password manager has filled in the trap. */
  const isPressed = useRef(false)
  const press = ({ isTrusted }: Event) => {
    isPressed.current = isTrusted
  }
  const [attempts, setAttempts] = useState(0)
  const [errors, setErrors] = useState<Errors>({})

  useEffect(() => {
    if (error?.code !== 'validation_failed') return
    setErrors(refusedFields(error.details, fields, t))
    setAttempts((count) => count + 1)
  }, [error])
  // The first field that is not right gets the focus, once it is marked.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [attempts])

  const change = (field: FormField, value: Value) => {
    onValues({ ...values, [field.name]: value })
    const { [field.name]: _corrected, ...rest } = errors
    setErrors(rest)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (isSubmitting) return
    const found = findErrors(fields, values, t)
    setErrors(found)
    if (Object.keys(found).length > 0) setAttempts(attempts + 1)
    else onSubmit(isPressed.current ? '' : (trap.current?.value ?? ''))
  }
  return (
    <form ref={form} noValidate onSubmit={submit}>
      {fields.map((field, index) => (
        <Field
          key={field.name}
          field={field}
          id={`${id}-${index}`}
          value={values[field.name]}
          error={errors[field.name]}
          onValue={(value) => change(field, value)}
        />
      ))}
      <div class="trap" aria-hidden="true">
        <label for={`${id}-website`}>Website</label>
        <input ref={trap} id={`${id}-website`} name="website" type="text" tabIndex={-1} autocomplete="off" />
      </div>
      {error !== undefined && <Failure error={error} text={formText(error, fields)} />}
      <button
        type="submit"
        class={isSubmitting ? 'button busy' : 'button'}
        aria-disabled={isSubmitting}
        onClick={press}
      >
        {isSubmitting ? t('submitting') : submitLabel}
      </button>
      {next !== undefined && <p class="next">{t(next)}</p>}
    </form>
  )
}

interface FieldProps {
  field: FormField
  id: string
  value: Value | undefined
  error: string | undefined
  onValue(value: Value): void
}

function Field(props: FieldProps) {
  const { field, id, error } = props
  const { t } = useView()
  const message = error !== undefined && (
    <p class="error" id={`${id}-error`}>
      <AlertIcon />
      <span>{error}</span>
    </p>
  )
  const optional = !field.required && <span class="optional"> ({t('optional')})</span>
  if (field.type === 'checkbox') {
    return (
      <div class="field check">
        <Input {...props} />
        <label for={id}>
          <bdi>{field.label}</bdi>
          {optional}
        </label>
        {message}
      </div>
    )
  }
  if (field.type === 'multiselect') {
    return (
      <fieldset class="field" aria-describedby={error === undefined ? undefined : `${id}-error`}>
        <legend>
          <bdi>{field.label}</bdi>
          {optional}
        </legend>
        <Choices {...props} />
        {message}
      </fieldset>
    )
  }
  return (
    <div class="field">
      <label for={id}>
        <bdi>{field.label}</bdi>
        {optional}
      </label>
      <Input {...props} />
      {message}
    </div>
  )
}

const KINDS: Readonly<Record<string, { type: string; autocomplete: string; dir: 'ltr' }>> = {
  email: { type: 'email', autocomplete: 'email', dir: 'ltr' },
  phone: { type: 'tel', autocomplete: 'tel', dir: 'ltr' },
}
const MAX_TEXT = 1000
/** The fields of the guest. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { name: 200, email: 254 }
const MAX_LONG_TEXT = 5000

function Input({ field, id, value, error, onValue }: FieldProps) {
  const { t } = useView()
  const shared = {
    id,
    name: field.name,
    required: field.required === true,
    'aria-invalid': error !== undefined,
    'aria-describedby': error === undefined ? undefined : `${id}-error`,
  }
  const text = typeof value === 'string' ? value : ''
  const { type, placeholder } = field
  switch (type) {
    case 'checkbox':
      return (
        <input
          {...shared}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
      )
    case 'textarea':
      return (
        <textarea
          {...shared}
          placeholder={placeholder}
          value={text}
          rows={4}
          maxLength={MAX_LONG_TEXT}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )
    case 'select':
      return (
        <div class="select">
          <select {...shared} value={text} onChange={(event) => onValue(event.currentTarget.value)}>
            <option value="">{placeholder ?? t('choose')}</option>
            {field.options?.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        </div>
      )
    default: {
      const kind = KINDS[type] ?? { type: 'text', autocomplete: field.name === 'name' ? 'name' : 'off', dir: 'auto' }
      const change = (event: Event) => onValue((event.currentTarget as HTMLInputElement).value)
      const input = {
        ...shared,
        ...kind,
        placeholder,
        value: text,
        maxLength: MAX_LENGTHS[field.name] ?? MAX_TEXT,
        onInput: change,
      } as object
      return <input {...input} />
    }
  }
}

/** A multiselect: one box per option. */
function Choices({ field, id, value, error, onValue }: FieldProps) {
  const chosen = Array.isArray(value) ? value : []
  return (
    <>
      {field.options?.map((option, index) => (
        <div key={option.value} class="check">
          <input
            id={`${id}-${index}`}
            name={field.name}
            type="checkbox"
            checked={chosen.includes(option.value)}
            aria-invalid={error !== undefined}
            onChange={(event) => {
              const rest = chosen.filter((value) => value !== option.value)
              onValue(event.currentTarget.checked ? [...rest, option.value] : rest)
            }}
          />
          <label for={`${id}-${index}`}>
            <bdi>{option.label}</bdi>
          </label>
        </div>
      ))}
    </>
  )
}
