/** National clouds have a Graph of their own, which lacks parts of the worldwide one. */
const NATIONAL_CLOUD = /\.microsoft\.us$|\.chinacloudapi\.cn$|\.microsoft\.de$/

export function isNationalCloud(hostname: string): boolean {
  return NATIONAL_CLOUD.test(hostname)
}
