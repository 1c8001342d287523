import { Badge, Code, Group, Paper, Skeleton, Switch, Table, Text, VisuallyHidden } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import type { Setting } from '../../api/types.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const SOURCES: Readonly<Record<Setting['source'], { label: string; color: string }>> = {
  environment: { label: 'Environment', color: 'indigo' },
  file: { label: 'File', color: 'indigo' },
  default: { label: 'Default', color: 'gray' },
  generated: { label: 'Generated', color: 'teal' },
}

/** The effective settings. They are read at the start of the service, so nothing can be changed here. */
export default function Settings() {
  const [{ q, source, all }, setUrl] = useUrlState(['q', 'source', 'all'])
  const { data, error, refetch } = useRead<{ settings: Setting[] }>('/settings', {}, { pollMs: false })
  const words = q.toLowerCase()
  const shown = (data?.settings ?? []).filter(
    (setting) =>
      (source === '' ? all !== '' || q !== '' || setting.source !== 'default' : setting.source === source) &&
      [setting.name, setting.variable, setting.about].some((text) => text.toLowerCase().includes(words)),
  )
  return (
    <Page
      title="Settings"
      description="The effective settings of this service and where each comes from. Change them in the environment or in service.config.json, then start the service again."
      actions={
        <Switch
          label="Show defaults"
          checked={all !== ''}
          onChange={(event) => setUrl({ all: event.currentTarget.checked ? '1' : '' })}
        />
      }
    >
      <Filters isFiltered={q !== '' || source !== ''} onClear={() => setUrl({ q: '', source: '' })}>
        <TextFilter label="Search name or meaning" value={q} onChange={(value) => setUrl({ q: value })} />
        <ChoiceFilter
          label="Source"
          value={source}
          options={Object.entries(SOURCES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ source: value })}
        />
      </Filters>
      {error !== null && (
        <Problem title="The settings could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && <Skeleton height={420} />}
      {data !== undefined && shown.length === 0 && (
        <Paper withBorder>
          <Empty icon={IconSearch} title={q === '' ? 'Everything has its default' : 'No setting matches'}>
            {all === '' ? 'Switch on “Show defaults” to see every setting.' : 'Try a part of its name.'}
          </Empty>
        </Paper>
      )}
      {shown.length > 0 && (
        <Paper withBorder className="table-frame">
          <Table className="data-table" verticalSpacing="sm" horizontalSpacing="md">
            <caption>
              <VisuallyHidden>Settings</VisuallyHidden>
            </caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Setting</Table.Th>
                <Table.Th>Value</Table.Th>
                <Table.Th>Source</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((setting) => (
                <Table.Tr key={setting.variable}>
                  <Table.Td data-label="Setting">
                    <div>
                      <Group gap={4} wrap="nowrap">
                        <Text span inherit fw={550} ff="monospace" className="wrap">
                          {setting.variable}
                        </Text>
                        <CopyIcon value={setting.variable} label={`Copy ${setting.variable}`} />
                      </Group>
                      <Text size="xs" c="dimmed" fw={400}>
                        {setting.about}
                      </Text>
                    </div>
                  </Table.Td>
                  <Table.Td data-label="Value">
                    {setting.value === null ? (
                      <Text span inherit c="dimmed">
                        not set
                      </Text>
                    ) : (
                      <Code className="wrap">{setting.value}</Code>
                    )}
                  </Table.Td>
                  <Table.Td data-label="Source">
                    <Badge variant="light" radius="sm" className="status" color={SOURCES[setting.source].color}>
                      {SOURCES[setting.source].label}
                    </Badge>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Paper>
      )}
    </Page>
  )
}
