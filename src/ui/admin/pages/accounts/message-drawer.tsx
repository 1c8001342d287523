import { Anchor, Drawer, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { apiUrl } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import type { Message, MessageDetail } from '../../api/types.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { Fields } from '../../parts/fields.tsx'
import { IconPaperclip } from '../../parts/icons.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'

/** One message: who, when, what it says, and its headers. Its HTML is shown in a frame that runs and loads nothing. */
export function MessageDrawer({
  accountId,
  messageId,
  onClose,
}: {
  accountId: string
  messageId: string
  onClose(): void
}) {
  return (
    <Drawer
      opened={messageId !== ''}
      onClose={onClose}
      position="right"
      size="xl"
      title="Message"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {messageId !== '' && <Content key={messageId} accountId={accountId} messageId={messageId} />}
    </Drawer>
  )
}

function Content({ accountId, messageId }: { accountId: string; messageId: string }) {
  const path = `/accounts/${accountId}/messages/${messageId}`
  const { data, error, refetch } = useRead<MessageDetail>(path, { sanitize: true }, { pollMs: false })
  const [view, setView] = useState('preview')
  if (data === undefined) {
    return error === null ? (
      <Skeleton height={300} />
    ) : (
      <Problem title="This message cannot be shown" error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <Stack>
      <Text fz="lg" fw={650} className="wrap" component="h2" m={0}>
        {data.subject || '(no subject)'}
      </Text>
      <Fields
        items={[
          ['From', data.from === null ? '–' : addressText(data.from)],
          ['To', data.to.map(addressText).join(', ') || '–'],
          ...(data.cc.length > 0 ? [['Cc', data.cc.map(addressText).join(', ')] as const] : []),
          ['Received', <Time key="time" value={data.receivedAt} />],
          ['Folder', data.folder ?? '–'],
          ['Id', <Copyable key="id" value={data.id} label="Copy the id" />],
        ]}
      />
      <SegmentedControl
        value={view}
        onChange={setView}
        data={[
          { value: 'preview', label: 'Preview' },
          { value: 'text', label: 'Text' },
          { value: 'headers', label: 'Headers' },
        ]}
      />
      {view === 'preview' && (
        <>
          <iframe
            className="preview"
            title="Preview of the message"
            sandbox="allow-popups allow-popups-to-escape-sandbox"
            referrerPolicy="no-referrer"
            src={apiUrl(`/admin/previews/${accountId}/${messageId}`)}
          />
          {data.body.sanitized === false && (
            <Text size="sm" c="dimmed">
              The HTML of this message is too long for a preview; its text is shown.
            </Text>
          )}
          <Text size="xs" c="dimmed">
            Scripts and remote images are blocked.
          </Text>
        </>
      )}
      {view === 'text' && <CodeBlock label="Text" value={data.body.text ?? 'This message has no text.'} />}
      {view === 'headers' && (
        <CodeBlock label="Headers" value={data.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} />
      )}
      {data.attachments.length > 0 && (
        <div>
          <Text fw={600} mb={6}>
            Attachments
          </Text>
          <Stack gap={6}>
            {data.attachments.map((attachment) => (
              <Group key={attachment.id} gap={8} wrap="nowrap">
                <IconPaperclip size={14} />
                <Anchor size="sm" href={apiUrl(`${path}/attachments/${attachment.id}`)} download className="wrap">
                  {attachment.filename || 'attachment'}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {sizeText(attachment.size)}
                </Text>
              </Group>
            ))}
          </Stack>
        </div>
      )}
      <Anchor size="sm" href={apiUrl(`${path}/raw`)} download>
        Download the original message
      </Anchor>
    </Stack>
  )
}

function addressText({ name, email }: NonNullable<Message['from']>): string {
  return name ? `${name} <${email}>` : email
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
