import { Alert, Stack, Tabs, Text } from '@mantine/core'
import type { Experience } from '../../api/types.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Section } from '../../parts/section.tsx'

const ABOUT = {
  inline: { label: 'Inline', about: 'The page in a frame, as high as its content.' },
  popup: { label: 'Popup', about: 'A button of your page opens it.' },
  floating: { label: 'Floating button', about: 'A button in the corner of every page.' },
  element: { label: 'Element', about: 'The widget itself, in your own design.' },
  link: { label: 'Link', about: 'For messages, or as a plain link.' },
} as const
type Form = keyof typeof ABOUT

/** The code that puts the experience on a site. */
export function Embed({ experience }: { experience: Experience }) {
  const { allowedOrigins } = experience
  const code = buildCode(experience)
  return (
    <Section title="Put it on your site">
      <Stack>
        {allowedOrigins.length === 0 && (
          <Alert color="orange">
            No site may embed it yet. Add the origin of your site, such as https://www.example.com, under General. The
            link works without it.
          </Alert>
        )}
        <Tabs defaultValue="inline" keepMounted={false}>
          <Tabs.List mb="sm">
            {Object.entries(ABOUT).map(([form, { label }]) => (
              <Tabs.Tab key={form} value={form}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {(Object.keys(ABOUT) as Form[]).map((form) => (
            <Tabs.Panel key={form} value={form}>
              <Text size="sm" c="dimmed" mb="xs">
                {ABOUT[form].about}
              </Text>
              <CodeBlock value={code[form]} label="Code" />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </Section>
  )
}

function buildCode({ slug, name, bookingUrl }: Experience): Record<Form, string> {
  const service = bookingUrl.slice(0, bookingUrl.lastIndexOf('/book/'))
  const script = `<script src="${service}/embed/v1/embed.js"></script>`
  const label = escaped(name)
  return {
    inline: `<div data-posthorn-slug="${slug}"></div>\n${script}`,
    popup: `<button data-posthorn-slug="${slug}" data-posthorn-mode="popup">${label}</button>\n${script}`,
    floating: `<div data-posthorn-slug="${slug}" data-posthorn-mode="floating" data-posthorn-label="${label}"></div>\n${script}`,
    element: `<posthorn-scheduler experience-slug="${slug}"></posthorn-scheduler>\n<script type="module" src="${service}/embed/v1/posthorn-scheduler.js"></script>`,
    link: bookingUrl,
  }
}

/** People paste it into their pages. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
