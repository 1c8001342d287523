import type { ApiError } from './api.ts'
import { errorText, Notice } from './notices.tsx'
import type { Translate } from './texts/index.ts'

/** The shape of the first step while the experience is loaded, so that the page does not move later. */
export function Loading() {
  return (
    <div class="card" aria-busy="true">
      <aside class="about">
        <slot name="heading" />
      </aside>
      <div class="step waiting" />
    </div>
  )
}

/** Instead of the widget, when the experience cannot be shown. */
export function Unavailable({ error, t, retry }: { error: ApiError; t: Translate; retry(): void }) {
  return (
    <div class="card">
      <aside class="about">
        <slot name="heading" />
      </aside>
      <div class="step">
        {error.status === 404 ? (
          <>
            <h2>{t('closedTitle')}</h2>
            <p class="lead">{t('closedText')}</p>
          </>
        ) : (
          <Notice text={t(errorText(error))} action={{ label: t('retry'), run: retry }} />
        )}
      </div>
    </div>
  )
}
