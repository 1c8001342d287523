import { useMemo } from 'preact/hooks'
import { chooseTitle, type Experience } from './api.ts'
import { CodeForm } from './code-form.tsx'
import { Confirmation, When } from './confirmation.tsx'
import type { Slot } from './days.ts'
import { buildFields, prefilled, readText, toResponses } from './fields.ts'
import type { Flow } from './flow.ts'
import { BookingForm } from './form.tsx'
import { formatTime } from './formats.ts'
import { BackIcon } from './icons.tsx'
import { Failure, Notice, StepHeading } from './notices.tsx'
import { MOVE_TEXTS } from './refusals.ts'
import type { SchedulerProps } from './scheduler.tsx'
import type { TextKey } from './texts/index.ts'
import { useView } from './view.ts'

export { default as STEPS_STYLE } from './style/form.css'
export { STEP_LANGUAGES } from './texts/steps/index.ts'

export interface LaterStepsProps extends Pick<SchedulerProps, 'move' | 'prefill'> {
  experience: Experience
  flow: Flow
}

/** Shows the steps after the choice of a slot. A file of its own, so that the calendar is shown sooner. */
export function LaterSteps({ experience, flow, move, prefill }: LaterStepsProps) {
  const { t } = useView()
  const { step, error, isSubmitting } = flow
  switch (step.name) {
    case 'choose':
      return null
    case 'form':
      return move === undefined ? (
        <Details experience={experience} prefill={prefill} flow={flow} slot={step.slot} />
      ) : (
        <Moving flow={flow} from={move.slot} slot={step.slot} />
      )
    case 'code':
      return (
        <>
          <Back flow={flow} />
          <CodeForm
            email={flow.answers.email}
            error={error}
            isSubmitting={isSubmitting}
            onCode={flow.submitCode}
            onRequest={flow.requestCode}
          />
        </>
      )
    case 'done':
      return <Confirmation booking={step.booking} title={chooseTitle(experience)} isMoved={move !== undefined} />
    case 'redirect':
      return (
        <>
          <StepHeading>{t('redirectTitle')}</StepHeading>
          <p class="lead">{t('redirectText')}</p>
          <a class="button" href={step.url} target="_top" rel="noreferrer">
            {t('continue')}
          </a>
        </>
      )
  }
}

/** What happens after the form; undefined where it is not known. */
function nextText({ sendsMessages }: Experience): TextKey | undefined {
  if (sendsMessages == null) return undefined
  return sendsMessages ? 'nextInvitation' : 'noMessage'
}

interface StepProps {
  flow: Flow
  slot: Slot
}

function Back({ flow }: { flow: Flow }) {
  const { t } = useView()
  return (
    <button type="button" class="link back" onClick={flow.back}>
      <BackIcon />
      {t('back')}
    </button>
  )
}

function Details({ experience, prefill, flow, slot }: StepProps & Pick<LaterStepsProps, 'experience' | 'prefill'>) {
  const { t } = useView()
  const form = experience.bookingForm
  const fields = useMemo(() => buildFields(form, t), [form, t])
  const values = { ...prefilled(fields, prefill), ...flow.entered }
  const submit = (website: string) => {
    const [name, email] = [readText(values, 'name'), readText(values, 'email')]
    flow.submit({ name, email, responses: toResponses(form, values), website })
  }
  return (
    <>
      <Back flow={flow} />
      <StepHeading>{form?.title || t('enterDetails')}</StepHeading>
      {form?.description && <p class="lead">{form.description}</p>}
      <When slot={slot} />
      {flow.holdEnded && <Notice tone="note" text={t('holdEnded')} />}
      <BookingForm
        fields={fields}
        values={values}
        error={flow.error}
        isSubmitting={flow.isSubmitting}
        submitLabel={form?.submitButtonLabel || t('submit')}
        next={nextText(experience)}
        onValues={flow.setEntered}
        onSubmit={submit}
      />
    </>
  )
}

function Moving({ flow, from, slot }: StepProps & { from: Slot }) {
  const { t, formats } = useView()
  return (
    <>
      <Back flow={flow} />
      <StepHeading>{t('moveTitle')}</StepHeading>
      <p class="lead">{t('moveFrom', { time: formatTime(formats, from) })}</p>
      <When slot={slot} />
      {flow.error !== undefined && <Failure error={flow.error} text={MOVE_TEXTS[flow.error.code]} />}
      <button
        type="button"
        class={flow.isSubmitting ? 'button busy' : 'button'}
        aria-disabled={flow.isSubmitting}
        onClick={() => !flow.isSubmitting && flow.submit()}
      >
        {t('moveSubmit')}
      </button>
    </>
  )
}
