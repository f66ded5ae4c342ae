package v1

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateSnifferArgs returns every fault of defaulted arguments, as one error, or nil.
func ValidateSnifferArgs(path *field.Path, args *SnifferArgs) error {
	faults := numberIn(path.Child("samplePercent"), args.SamplePercent, 1, 100)
	faults = append(faults, numberIn(path.Child("topK"), args.TopK, 1, 20)...)
	faults = append(faults, metav1validation.ValidateLabelName(args.MatrixLabel, path.Child("matrixLabel"))...)
	faults = append(faults, namespaceNames(path.Child("namespaces", "include"), args.Namespaces.Include)...)
	faults = append(faults, namespaceNames(path.Child("namespaces", "exclude"), args.Namespaces.Exclude)...)
	for i, key := range args.Labels.Keep {
		if key != "*" {
			faults = append(faults, metav1validation.ValidateLabelName(key, path.Child("labels", "keep").Index(i))...)
		}
	}
	for i, key := range args.Labels.Redact {
		faults = append(faults, metav1validation.ValidateLabelName(key, path.Child("labels", "redact").Index(i))...)
	}
	faults = append(faults, numberIn(path.Child("queueLength"), args.QueueLength, 64, 1<<20)...)
	faults = append(faults, validateSinks(path.Child("sinks"), &args.Sinks)...)
	return faults.ToAggregate()
}

// namespaceNames checks a list of namespaces.
func namespaceNames(path *field.Path, names []string) (faults field.ErrorList) {
	for i, name := range names {
		for _, fault := range validation.IsDNS1123Label(name) {
			faults = append(faults, field.Invalid(path.Index(i), name, fault))
		}
		if slices.Contains(names[:i], name) {
			faults = append(faults, field.Duplicate(path.Index(i), name))
		}
	}
	return faults
}

func validateSinks(path *field.Path, sinks *SnifferSinks) (faults field.ErrorList) {
	if file := sinks.File; file != nil {
		at := path.Child("file")
		faults = append(faults, absolute(at.Child("path"), file.Path)...)
		faults = append(faults, numberIn(at.Child("maxSizeMiB"), file.MaxSizeMiB, 1, 10<<10)...)
		faults = append(faults, numberIn(at.Child("maxBackups"), file.MaxBackups, 1, 1000)...)
		faults = append(faults, numberIn(at.Child("maxAgeDays"), file.MaxAgeDays, 0, 3650)...)
	}
	if service := sinks.Service; service != nil {
		faults = append(faults, validateService(path.Child("service"), service)...)
	}
	if notify := sinks.Notify; notify != nil {
		faults = append(faults, hostPort(path.Child("notify", "address"), notify.Address)...)
	}
	if tracing := sinks.Tracing; tracing != nil {
		faults = append(faults, hostPort(path.Child("tracing", "endpoint"), tracing.Endpoint)...)
		faults = append(faults, numberIn(path.Child("tracing", "samplePercent"), tracing.SamplePercent, 1, 100)...)
	}
	if live := sinks.Live; live != nil {
		faults = append(faults, absolute(path.Child("live", "socket"), live.Socket)...)
		faults = append(faults, numberIn(path.Child("live", "records"), live.Records, 1, 100_000)...)
	}
	return faults
}

func validateService(path *field.Path, service *SnifferServiceSink) (faults field.ErrorList) {
	address := path.Child("address")
	if socket, ok := strings.CutPrefix(service.Address, "unix:"); ok {
		faults = append(faults, absolute(address, strings.TrimPrefix(socket, "//"))...)
	} else {
		faults = append(faults, hostPort(address, service.Address)...)
		if service.TLS == nil && len(faults) == 0 && !loopback(service.Address) {
			faults = append(faults, field.Required(path.Child("tls"), "for an address that is neither a unix socket nor loopback"))
		}
	}
	if tls := service.TLS; tls != nil {
		faults = append(faults, absolute(path.Child("tls", "caFile"), tls.CAFile)...)
		if (tls.CertFile == "") != (tls.KeyFile == "") {
			faults = append(faults, field.Required(path.Child("tls", "keyFile"), "certFile and keyFile belong together"))
		}
	}
	faults = append(faults, absolute(path.Child("spoolDirectory"), service.SpoolDirectory)...)
	return append(faults, numberIn(path.Child("spoolMaxMiB"), service.SpoolMaxMiB, 1, 1<<20)...)
}

func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func absolute(path *field.Path, value string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case !filepath.IsAbs(value):
		return field.ErrorList{field.Invalid(path, value, "must be an absolute path")}
	}
	return nil
}

func hostPort(path *field.Path, value string) field.ErrorList {
	host, port, err := net.SplitHostPort(value)
	number, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case err != nil || portErr != nil || host == "" || number == 0:
		return field.ErrorList{field.Invalid(path, value, "must be host:port")}
	}
	return nil
}
