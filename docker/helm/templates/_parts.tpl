{{- define "xetune.labels" -}}
app.kubernetes.io/name: xetune
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Security of every pod: the image's user, nothing that it could gain. */}}
{{- define "xetune.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 60
{{- end }}

{{- define "xetune.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "xetune.container" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "xetune.database" -}}
- name: XETUNE_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ .Values.database.secret }}, key: url}}
- name: PGPASSWORD
  valueFrom: {secretKeyRef: {name: {{ .Values.database.secret }}, key: password}}
{{- end }}

{{- define "xetune.certificates" -}}
{{- if .Values.cluster.certificates }}
- {name: XETUNE_CLUSTER_CA, value: /etc/xetune/certificates/ca.pem}
- {name: XETUNE_CLUSTER_CERT, value: /etc/xetune/certificates/cert.pem}
- {name: XETUNE_CLUSTER_KEY, value: /etc/xetune/certificates/key.pem}
{{- end }}
{{- end }}

{{- define "xetune.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /var/lib/xetune}
{{- if .Values.cluster.certificates }}
- {name: certificates, mountPath: /etc/xetune/certificates, readOnly: true}
{{- end }}
{{- end }}

{{/* Kernels are loaded from /tmp, which an emptyDir allows. */}}
{{- define "xetune.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- if .Values.cluster.certificates }}
- {name: certificates, secret: {secretName: {{ .Values.cluster.certificates }}}}
{{- end }}
{{- end }}

{{/* Arguments that connect to the scheduler at a host. */}}
{{- define "xetune.scheduler" -}}
{{ if .root.Values.cluster.certificates }}"tls://{{ .host }}:8786"{{ else }}"tcp://{{ .host }}:8786", "--insecure"{{ end }}
{{- end }}
