import { useId, useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { AlertIcon } from './icons.tsx'
import { Failure, Notice, StepHeading } from './notices.tsx'
import { STEP_TEXTS } from './refusals.ts'
import { isAboutCode } from './submission.ts'
import { useView } from './view.ts'

interface CodeFormProps {
  email: string
  error: ApiError | undefined
  isSubmitting: boolean
  onCode(code: string): void
  /** Asks for another code. */
  onRequest(): void
}

/** Asks for the code that was sent to the guest's address. */
export function CodeForm({ email, error, isSubmitting, onCode, onRequest }: CodeFormProps) {
  const { t } = useView()
  const id = useId()
  const [code, setCode] = useState('')
  const [isRequested, setRequested] = useState(false)
  const isWrong = error !== undefined && isAboutCode(error)
  const isSent = isRequested && !isSubmitting && error === undefined
  const submit = (event: Event) => {
    event.preventDefault()
    if (isSubmitting || code.trim() === '') return
    setRequested(false)
    onCode(code.trim())
  }
  return (
    <>
      <StepHeading>{t('codeTitle')}</StepHeading>
      <p class="lead">{t('codeText', { email })}</p>
      <form noValidate onSubmit={submit}>
        <div class="field">
          <label for={id}>{t('codeLabel')}</label>
          <input
            id={id}
            value={code}
            inputMode="numeric"
            autocomplete="one-time-code"
            dir="ltr"
            maxLength={12}
            type="text"
            class="code"
            aria-invalid={isWrong}
            aria-describedby={isWrong ? `${id}-error` : undefined}
            onInput={(event) => setCode(event.currentTarget.value)}
          />
          {isWrong && (
            <p class="error" id={`${id}-error`} role="alert">
              <AlertIcon />
              <span>{t('codeWrong')}</span>
            </p>
          )}
        </div>
        {isSent && <Notice tone="note" text={t('codeSent')} />}
        {error !== undefined && !isWrong && !isSent && <Failure error={error} text={STEP_TEXTS[error.code]} />}
        <button type="submit" class={isSubmitting ? 'button busy' : 'button'} aria-disabled={isSubmitting}>
          {t('codeSubmit')}
        </button>
        <button
          type="button"
          class="link"
          onClick={() => {
            if (isSubmitting) return
            setRequested(true)
            onRequest()
          }}
        >
          {t('codeAgain')}
        </button>
      </form>
    </>
  )
}
