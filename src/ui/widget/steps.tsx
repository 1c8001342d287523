import { useMemo } from 'preact/hooks'
import { chooseTitle, type Experience } from './api.ts'
import { CodeForm } from './code-form.tsx'
import { Confirmation, When } from './confirmation.tsx'
import type { Slot } from './days.ts'
import { buildFields, prefilled, readText, toResponses } from './fields.ts'
import type { Flow, FlowDeps } from './flow.ts'
import { BookingForm } from './form.tsx'
import { formatTime } from './formats.ts'
import { BackIcon } from './icons.tsx'
import { Failure, Notice, StepHeading } from './notices.tsx'
import { MOVE_TEXTS } from './refusals.ts'
import type { SchedulerProps } from './scheduler.tsx'
import { type Submission, useSubmission } from './submission.ts'
import type { TextKey } from './texts/index.ts'
import { useView } from './view.ts'

export { default as STEPS_STYLE } from './style/form.css'
export { STEP_LANGUAGES } from './texts/steps/index.ts'

interface LaterStepsProps extends Pick<SchedulerProps, 'move' | 'prefill'> {
  deps: FlowDeps
  flow: Flow
}

/** Shows the steps after the choice of a slot. A file of its own, so that the calendar is shown sooner. */
export function LaterSteps({ deps, flow, move, prefill }: LaterStepsProps) {
  const { t } = useView()
  const submission = useSubmission(deps, flow)
  const { experience } = deps
  const { step, error } = flow
  switch (step.name) {
    case 'choose':
      return null
    case 'form':
      return move === undefined ? (
        <Details experience={experience} prefill={prefill} flow={flow} submission={submission} slot={step.slot} />
      ) : (
        <Moving flow={flow} submission={submission} from={move.slot} slot={step.slot} />
      )
    case 'code':
      return (
        <>
          <Back flow={flow} />
          <CodeForm
            email={submission.answers.email}
            error={error}
            isSubmitting={submission.isSubmitting}
            onCode={submission.submitCode}
            onRequest={submission.requestCode}
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

/** The key of the text about the message that a guest gets after the form. Undefined while it is not known. */
function nextText({ sendsMessages }: Experience): TextKey | undefined {
  if (sendsMessages == null) return undefined
  return sendsMessages ? 'nextInvitation' : 'noMessage'
}

interface StepProps {
  flow: Flow
  submission: Submission
  slot: Slot
}

/** To the step before. */
function Back({ flow: { step, go } }: { flow: Flow }) {
  const { t } = useView()
  const back = () => go(step.name === 'code' ? { name: 'form', slot: step.slot } : { name: 'choose' })
  return (
    <button type="button" class="link back" onClick={back}>
      <BackIcon />
      {t('back')}
    </button>
  )
}

interface DetailsProps extends StepProps, Pick<LaterStepsProps, 'prefill'> {
  experience: Experience
}

function Details({ experience, prefill, flow, submission, slot }: DetailsProps) {
  const { t } = useView()
  const form = experience.bookingForm
  const fields = useMemo(() => buildFields(form, t), [form, t])
  const values = { ...prefilled(fields, prefill), ...flow.entered }
  const submit = (website: string) => {
    const [name, email] = [readText(values, 'name'), readText(values, 'email')]
    submission.submit({ name, email, responses: toResponses(form, values), website })
  }
  return (
    <>
      <Back flow={flow} />
      <StepHeading>
        <bdi>{form?.title || t('enterDetails')}</bdi>
      </StepHeading>
      {form?.description && (
        <p class="lead">
          <bdi>{form.description}</bdi>
        </p>
      )}
      <When slot={slot} />
      {flow.holdEnded && <Notice tone="note" text={t('holdEnded')} />}
      <BookingForm
        fields={fields}
        values={values}
        error={flow.error}
        isSubmitting={submission.isSubmitting}
        submitLabel={form?.submitButtonLabel || t('submit')}
        next={nextText(experience)}
        onValues={flow.setEntered}
        onSubmit={submit}
      />
    </>
  )
}

function Moving({ flow, submission: { isSubmitting, submit }, from, slot }: StepProps & { from: Slot }) {
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
        class={isSubmitting ? 'button busy' : 'button'}
        aria-disabled={isSubmitting}
        onClick={() => !isSubmitting && submit()}
      >
        {t('moveSubmit')}
      </button>
    </>
  )
}
