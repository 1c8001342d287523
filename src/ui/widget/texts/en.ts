/**
 * The texts of the widget until a slot is chosen, in English; those of the later steps are in `steps/`. The keys are the type of the other
 * languages, and the names that `ui.copy` of an experience can replace. `{name}` is replaced by a value.
 */
export const texts = {
  loading: 'Loading times',
  duration: 'Duration',
  zone: 'Time zone',
  timeFormat: 'Time format',
  previousMonth: 'Previous month',
  nextMonth: 'Next month',
  previousWeek: 'Previous week',
  nextWeek: 'Next week',
  selectTime: 'Select a time',
  timesFound: 'Free times: {count}',
  noTimes: 'No free times here',
  noTimesOn: 'None',
  nextFree: 'Show the next free day',
  noneAhead: 'There are no free times in the next months.',
  taken: 'This time is no longer free. Choose another one.',
  offline: 'There is no connection. Check your internet access and try again.',
  tooMany: 'Too many attempts. Try again in a few minutes.',
  outdated: 'This page is no longer up to date. Load it again.',
  reload: 'Load again',
  failed: 'Something went wrong on our side. Try again in a moment.',
  retry: 'Try again',
  closedTitle: 'This booking page is not available',
  closedText: 'It may have been closed. Ask the sender of the link.',
  moveFrom: 'Now: {time}',
}
