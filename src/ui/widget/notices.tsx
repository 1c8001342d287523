import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { AlertIcon } from './icons.tsx'
import type { TextKey } from './texts/index.ts'
import { useView } from './view.ts'

/** The heading of a step. It gets the focus with the step's first frame after an action of the visitor, so no key goes astray. */
export function StepHeading({ children, takesFocus = true }: { children: ComponentChildren; takesFocus?: boolean }) {
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
  return <Notice text={t(textOf(error))} action={retry === undefined ? undefined : { label: t('retry'), run: retry }} />
}

/** What a visitor can understand of an error. */
export function textOf({ code }: ApiError): TextKey {
  switch (code) {
    case 'slot_unavailable':
      return 'taken'
    case 'rate_limited':
      return 'tooMany'
    case 'network':
    case 'timeout':
      return 'offline'
    case 'validation_failed':
      return 'invalidForm'
    default:
      return 'failed'
  }
}
