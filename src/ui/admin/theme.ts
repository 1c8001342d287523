import { Button, type CSSVariablesResolver, createTheme, Modal, Notification, Paper, Tooltip } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  // In both colour schemes texts in this colour have a contrast of 4.5 to their background.
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  // Where black and white have the same contrast, so that the better one is chosen.
  luminanceThreshold: 0.179,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  respectReducedMotion: true,
  components: {
    // A dialog's header element would be a second banner beside that of the page.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    // The text of small buttons has the size of the other small texts.
    Button: Button.extend({
      vars: (_theme, { size }) => ({
        root: size === 'compact-sm' ? { '--button-fz': 'var(--mantine-font-size-xs)' } : {},
      }),
    }),
    Modal: Modal.extend({ defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Paper: Paper.extend({ defaultProps: { radius: 'md' } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 200, multiline: true, maw: 320 } }),
  },
})

/** Mantine's dimmed texts have less contrast than 4.5 on our backgrounds. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6169',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-text': '#1d2127',
  },
  dark: {
    '--mantine-color-dimmed': '#a4a8b0',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-placeholder': '#8b9099',
    '--mantine-color-text': '#dfe1e5',
    // Mantine chooses the colour of a filled button's text for its background in the light scheme.
    '--mantine-color-indigo-filled': 'var(--mantine-color-indigo-7)',
    '--mantine-color-indigo-filled-hover': 'var(--mantine-color-indigo-8)',
  },
})
