import { Alert, Button, Code, Skeleton, Stack, Text } from '@mantine/core'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { ProviderSetup, ProviderSetups, ProviderValidation } from '../../api/types.ts'
import { Copyable } from '../../parts/copy.tsx'
import { Fields } from '../../parts/fields.tsx'
import { IconCircleCheck, IconCircleX, IconInfo, IconTriangleAlert } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { Status } from '../../parts/status.tsx'

const ABOUT: Readonly<Record<string, { title: string; about: string; variables?: string[]; guide: string }>> = {
  gmail: {
    title: 'Google',
    about: 'Gmail and Google Calendar.',
    variables: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
    guide:
      'In the Google Cloud console, create an OAuth client of the type “Web application” and enter this address as authorised redirect URI.',
  },
  microsoft: {
    title: 'Microsoft',
    about: 'Outlook and Microsoft 365.',
    variables: ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
    guide:
      'In the Microsoft Entra admin center, register an application, add the platform “Web” and enter this address as redirect URI.',
  },
  imap: { title: 'IMAP', about: 'Every other mail server. It needs no settings.', guide: '' },
}

/** The sign-ins of OAUTH_PROVIDERS. */
const aboutMail = (name: string, label: string | null) => ({
  title: label ?? name,
  about: `A sign-in by OAuth for IMAP mailboxes: ${name} in OAUTH_PROVIDERS.`,
  variables: [],
  guide: '',
})

export default function Providers() {
  const { data, error, refetch } = useRead<ProviderSetups>('/admin/provider-setups', {}, { pollMs: false })
  return (
    <Page title="Providers" description="What users can connect, and what to enter at Google and Microsoft for it.">
      {error !== null && (
        <Problem title="The providers could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && <Skeleton height={420} />}
      {(data?.providers ?? []).map((provider) => (
        <Provider
          key={provider.name}
          provider={provider}
          units={provider.name === 'gmail' ? data?.gmailUnits : undefined}
        />
      ))}
    </Page>
  )
}

interface ProviderProps {
  provider: ProviderSetup
  /** Units of Gmail's quota. */
  units: ProviderSetups['gmailUnits'] | undefined
}

function Provider({ provider: { name, label, isConfigured, redirectUrl, scopes }, units }: ProviderProps) {
  const { title, about, variables = [], guide } = ABOUT[name] ?? aboutMail(name, label)
  const check = useAction(() => api.post<ProviderValidation>(`/providers/${name}/validate`), {
    invalidates: [],
    toastError: false,
  })
  return (
    <Section
      title={title}
      description={about}
      actions={
        <>
          <Status tone={isConfigured ? 'good' : 'quiet'}>{isConfigured ? 'Ready' : 'Not set up'}</Status>
          <Button
            variant="default"
            size="xs"
            aria-label={`Validate ${title}`}
            loading={check.isPending}
            onClick={() => check.mutate()}
          >
            Validate
          </Button>
        </>
      }
    >
      <Stack>
        {guide !== '' && !isConfigured && (
          <Alert color="blue" icon={<IconInfo />}>
            {guide} Then set {variables.join(' and ')} and start the service again.
          </Alert>
        )}
        {redirectUrl !== null && (
          <Fields
            items={[
              [
                'Redirect address',
                <Copyable key="redirect" value={redirectUrl} label={`Copy the redirect address for ${title}`} />,
              ],
              [
                'Scopes',
                scopes.length === 0 ? undefined : (
                  <ul key="scopes" className="plain-list">
                    {scopes.map((scope) => (
                      <li key={scope}>
                        <Code className="wrap">{scope}</Code>
                      </li>
                    ))}
                  </ul>
                ),
              ],
            ]}
          />
        )}
        {units !== undefined && isConfigured && <Fields items={[['Quota of Gmail used today', usedUnits(units)]]} />}
        {check.error !== null && <Problem title="It could not be checked" error={check.error} />}
        {check.data !== undefined && (
          <Stack gap="xs" role="status" aria-label={`Checks of ${title}`}>
            {check.data.checks.map((checkResult) => (
              <CheckResult key={checkResult.name} check={checkResult} />
            ))}
          </Stack>
        )}
      </Stack>
    </Section>
  )
}

/** `1,204,300 of 80,000,000 units (2 %)` */
function usedUnits({ today, perDay }: ProviderSetups['gmailUnits']): string {
  const used = today.toLocaleString('en')
  if (perDay === 0) return `${used} units`
  return `${used} of ${perDay.toLocaleString('en')} units (${Math.round((today / perDay) * 100)} %)`
}

const RESULTS = {
  ok: { color: 'teal', icon: <IconCircleCheck /> },
  warning: { color: 'orange', icon: <IconTriangleAlert /> },
  failed: { color: 'red', icon: <IconCircleX /> },
  skipped: { color: 'gray', icon: <IconInfo /> },
}

function CheckResult({ check: { name, status, message, remedy } }: { check: ProviderValidation['checks'][number] }) {
  const { color, icon } = RESULTS[status]
  return (
    <Alert color={color} icon={icon} title={name}>
      {message}
      {remedy !== null && (
        <Text size="sm" mt={4} fw={550}>
          {remedy}
        </Text>
      )}
    </Alert>
  )
}
