{{- define "posthorn.name" -}}
{{- $name := ternary .Release.Name (printf "%s-posthorn" .Release.Name) (contains "posthorn" .Release.Name) }}
{{- $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "posthorn.selector" -}}
app.kubernetes.io/name: posthorn
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "posthorn.labels" -}}
{{ include "posthorn.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "posthorn.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "posthorn.secret" -}}
{{ .Values.existingSecret | default (include "posthorn.name" .) }}
{{- end }}

{{/* The environment of the service and of its jobs. */}}
{{- define "posthorn.environment" -}}
- configMapRef: { name: {{ include "posthorn.name" . }} }
{{- if or .Values.existingSecret .Values.secret }}
- secretRef: { name: {{ include "posthorn.secret" . }} }
{{- end }}
{{- end }}

{{- define "posthorn.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "posthorn.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}
