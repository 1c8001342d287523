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

interface FailureProps {
  error: ApiError
  /** Default: by the code of the error. */
  text?: TextKey | undefined
  retry?: (() => void) | undefined
}

/** Shows what failed, and a button for what the visitor can do. */
export function Failure({ error, text = errorText(error), retry }: FailureProps) {
  const { t } = useView()
  const action =
    text === 'outdated'
      ? { label: t('reload'), run: () => location.reload() }
      : retry && { label: t('retry'), run: retry }
  return <Notice text={t(text)} action={action} />
}

const TEXTS: Readonly<Record<string, TextKey>> = {
  slot_unavailable: 'taken',
  rate_limited: 'tooMany',
  network: 'offline',
  timeout: 'offline',
  // The experience was changed or closed after the page was loaded.
  validation_failed: 'outdated',
  not_found: 'closedTitle',
}

/** Returns an explanation of an error that a visitor can understand. */
export const errorText = ({ code }: ApiError): TextKey => TEXTS[code] ?? 'failed'
