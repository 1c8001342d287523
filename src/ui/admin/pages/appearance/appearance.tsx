import './appearance.css'
import {
  Alert,
  Button,
  ColorInput,
  Group,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { apiUrl } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import type { Appearance } from '../../api/types.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'

const TYPING_MS = 350
const FIELDS = {
  name: { label: 'Name', about: 'Of your product', placeholder: 'Acme Mail' },
  logoUrl: {
    label: 'Logo',
    about: 'URL of an image, shown 32 pixels high',
    placeholder: 'https://www.example.com/logo.svg',
  },
  logoDarkUrl: {
    label: 'Logo in dark mode',
    about: 'If the other is hard to see on dark',
    placeholder: 'https://www.example.com/logo-dark.svg',
  },
  color: {
    label: 'Colour',
    about: 'Of buttons and links. It is adjusted where text would be hard to read.',
    placeholder: '#1a6fdb',
  },
  supportUrl: {
    label: 'Help page',
    about: 'Linked at the bottom of each page',
    placeholder: 'https://www.example.com/help',
  },
  privacyUrl: {
    label: 'Privacy policy',
    about: 'Linked at the bottom of each page',
    placeholder: 'https://www.example.com/privacy',
  },
} as const
type Name = keyof typeof FIELDS
const NAMES = Object.keys(FIELDS) as Name[]

const languageName = new Intl.DisplayNames(undefined, { type: 'language' })

export default function AppearancePage() {
  const { data, error, refetch } = useRead<Appearance>('/admin/hosted-pages', {}, { pollMs: false })
  return (
    <Page
      title="Appearance"
      description="How the pages look on which users connect their mailboxes. Try values here, then copy them into the configuration: nothing is stored."
    >
      {error !== null && (
        <Problem title="The settings could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && <Skeleton height={560} />}
      {data !== undefined && <Editor stored={data} />}
    </Page>
  )
}

function Editor({ stored }: { stored: Appearance }) {
  const { current, variables, languages } = stored
  const [values, setValues] = useState<Record<string, string>>(current)
  const [page, setPage] = useState('start')
  const [scheme, setScheme] = useState('light')
  const [language, setLanguage] = useState('en')
  const [tried] = useDebouncedValue(values, TYPING_MS)
  const { data } = useRead<Appearance>('/admin/hosted-pages', tried, { pollMs: false })
  const errors = data?.errors ?? {}
  const isChanged = NAMES.some((name) => (values[name] ?? '') !== (current[name] ?? ''))
  const set = (name: Name, value: string) => setValues((previous) => ({ ...previous, [name]: value }))
  const field = (name: Name) => ({
    label: FIELDS[name].label,
    description: FIELDS[name].about,
    placeholder: FIELDS[name].placeholder,
    value: values[name] ?? '',
    error: errors[name],
    maxLength: 2048,
  })
  return (
    <>
      <div className="appearance">
        <Section
          title="Brand"
          actions={
            isChanged && (
              <Button variant="default" size="xs" onClick={() => setValues(current)}>
                Reset
              </Button>
            )
          }
        >
          <Stack>
            {NAMES.map((name) =>
              name === 'color' ? (
                <ColorInput
                  key={name}
                  {...field(name)}
                  eyeDropperButtonProps={{ 'aria-label': 'Pick a colour from the screen' }}
                  onChange={(value) => set(name, value)}
                />
              ) : (
                <TextInput key={name} {...field(name)} onChange={(event) => set(name, event.currentTarget.value)} />
              ),
            )}
          </Stack>
        </Section>
        <Section
          title="Preview"
          actions={
            <>
              <Select
                w={150}
                aria-label="Language"
                allowDeselect={false}
                data={languages.map((value) => ({ value, label: languageName.of(value) ?? value }))}
                value={language}
                onChange={(value) => setLanguage(value ?? 'en')}
              />
              <SegmentedControl
                aria-label="Colours of the preview"
                data={[
                  { value: 'light', label: 'Light' },
                  { value: 'dark', label: 'Dark' },
                ]}
                value={scheme}
                onChange={setScheme}
              />
            </>
          }
        >
          <Group mb="sm">
            <SegmentedControl
              aria-label="Page"
              data={[
                { value: 'start', label: 'Start' },
                { value: 'consent', label: 'Before consent' },
                { value: 'result', label: 'Error' },
              ]}
              value={page}
              onChange={setPage}
            />
          </Group>
          <iframe
            title="Preview of the hosted page"
            className="hosted-preview"
            data-scheme={scheme}
            src={apiUrl('/admin/hosted-pages/preview', { ...tried, page, scheme, language })}
            sandbox="allow-scripts"
          />
        </Section>
      </div>
      <Configuration values={values} variables={variables} hasErrors={Object.keys(errors).length > 0} />
    </>
  )
}

/** To copy. It contains every value that is set, also those that have not changed. */
function Configuration({
  values,
  variables,
  hasErrors,
}: {
  values: Record<string, string>
  variables: Record<string, string>
  hasErrors: boolean
}) {
  const set = NAMES.flatMap((name) => {
    const value = (values[name] ?? '').trim()
    return value === '' ? [] : [[name, value] as const]
  })
  const environment = set.map(([name, value]) => `${variables[name]}=${quoted(value)}`).join('\n')
  const file = JSON.stringify({ service: { authScreen: Object.fromEntries(set) } }, null, 2)
  return (
    <Section
      title="Configuration"
      description="Copy one of them, and start the service again. The environment wins over the file."
    >
      {hasErrors && (
        <Alert color="orange" mb="sm">
          A value is not valid: the service would not start with it.
        </Alert>
      )}
      {set.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing is set: the pages have the usual design.
        </Text>
      ) : (
        <Tabs defaultValue="environment" keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="environment">Environment or .env</Tabs.Tab>
            <Tabs.Tab value="file">service.config.json</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="environment">
            <CodeBlock value={environment} label="Environment" />
          </Tabs.Panel>
          <Tabs.Panel value="file">
            <CodeBlock value={file} label="File" />
          </Tabs.Panel>
        </Tabs>
      )}
    </Section>
  )
}

/** As `.env` files and shells read it: `#` would begin a comment. */
function quoted(value: string): string {
  if (/^[\w./:@-]+$/.test(value)) return value
  return value.includes("'") ? `"${value.replaceAll('"', '')}"` : `'${value}'`
}
