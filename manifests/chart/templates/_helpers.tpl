{{- /*
The helpers take a dict: "root" is the chart's top-level scope, "component" is scheduler, controller, agent or sniffer,
which is also the key of its values. The pod also needs "usesAPI": whether the component talks to the API server, and
may have "volumes", if it has some that it must be able to read or write, and "sysctls".
*/ -}}

{{- define "vicinity.selectorLabels" -}}
app.kubernetes.io/name: vicinity
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "vicinity.labels" -}}
{{ include "vicinity.selectorLabels" . }}
app.kubernetes.io/part-of: vicinity
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end -}}

{{- define "vicinity.metadata" -}}
name: vicinity-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "vicinity.labels" . | nindent 2 }}
{{- end -}}

{{- define "vicinity.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "vicinity.metadata" . | nindent 2 }}
{{- end -}}

{{- /* The ServiceAccount as the subject of a binding. */ -}}
{{- define "vicinity.subjects" -}}
- kind: ServiceAccount
  name: vicinity-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
{{- end -}}

{{- define "vicinity.image" -}}
{{- $values := index .root.Values .component -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ $values.image.repository }}:
{{- $values.image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- end -}}

{{- /* What every pod has: who it is, where it may run, and that it may do nothing special. */ -}}
{{- define "vicinity.podSpec" -}}
{{- $values := index .root.Values .component -}}
serviceAccountName: vicinity-{{ .component }}
automountServiceAccountToken: {{ .usesAPI }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  {{- if .volumes }}
  fsGroup: 65532
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
  {{- with .sysctls }}
  sysctls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What every container has. */ -}}
{{- define "vicinity.container" -}}
{{- $values := index .root.Values .component -}}
name: {{ .component }}
image: {{ include "vicinity.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop:
      - ALL
  readOnlyRootFilesystem: true
resources:
  {{- toYaml $values.resources | nindent 2 }}
{{- end -}}

{{- /* The flags that every program has. */ -}}
{{- define "vicinity.commonArgs" -}}
{{- $values := index .root.Values .component -}}
- --v={{ .root.Values.logVerbosity }}
{{- range $values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* Probes of the programs that serve /healthz and /readyz over plain HTTP on a port named health. */ -}}
{{- define "vicinity.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  initialDelaySeconds: 5
  periodSeconds: 10
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
{{- end -}}
