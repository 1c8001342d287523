import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { AlertIcon } from './icons.tsx'
import type { TextKey } from './texts/index.ts'
import { useView } from './view.ts'

/** The heading of a step. It gets the focus with the first frame of the step, so no key goes to the step before. */
export function StepHeading({ children, takesFocus = true }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <h2 ref={heading} tabIndex={-1}>
      {children}
    </h2>
  )
}

/** The heading of a day's times. It gets the focus after the calendar has, which focuses the day that was chosen. */
export function DayHeading({ children, takesFocus }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <h2 ref={heading} tabIndex={-1}>
      {children}
    </h2>
  )
}

interface HeadingProps {
  children: ComponentChildren
  /** False while the visitor has done nothing yet. */
  takesFocus?: boolean
}

/** A message that screen readers announce, with a button for what the visitor can do. */
export function Notice({ text, action, tone = 'alert' }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'alert' ? 'alert' : 'status'}>
      <AlertIcon />
      <div>
        <p>{text}</p>
        {action !== undefined && (
          <button type="button" class="link" onClick={action.run}>
            {action.label}
          </button>
        )}
      </div>
    </div>
  )
}

interface NoticeProps {
  text: string
  action?: { label: string; run(): void } | undefined
  tone?: 'alert' | 'note'
}

/** An error that trying again may solve. */
export function Failure({ error, retry }: { error: ApiError; retry?: (() => void) | undefined }) {
  const { t } = useView()
  // For the developer who tries the page: no visitor sees one whose application answers like this.
  const text = error.code === 'generated_at_required' ? `${error.message}.` : t(textOf(error))
  return <Notice text={text} action={retry === undefined ? undefined : { label: t('retry'), run: retry }} />
}

/** What a visitor can understand of an error. */
export function textOf({ code }: ApiError): TextKey {
  switch (code) {
    case 'slot_unavailable':
      return 'taken'
    case 'rate_limited':
      return 'tooMany'
    case 'mail_limited':
      return 'tooManyMessages'
    case 'network':
    case 'timeout':
      return 'offline'
    case 'validation_failed':
      return 'invalidForm'
    default:
      return 'failed'
  }
}
