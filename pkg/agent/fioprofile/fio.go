package fioprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// dataFile is the name of the file that is read and written.
	dataFile = ".vicinity-fio.data"
	// maxOutput is far more than fio prints for one job.
	maxOutput = 1 << 20
	depth     = 32
	// slack is what fio takes to start, and to end after its time.
	slack = 15 * time.Second
)

// layOut writes the file once from start to end: reading holes would be measuring memory.
func (p *Profiler) layOut(ctx context.Context, folder string) error {
	_, err := p.fio(ctx, folder, "--rw=write", "--bs=1M", "--end_fsync=1")
	return err
}

// measure does one step.
func (p *Profiler) measure(ctx context.Context, folder string, s step) (Rate, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.StepTime+slack)
	defer cancel()
	content, err := p.fio(ctx, folder, "--rw="+s.pattern, "--bs="+s.block, "--time_based",
		"--runtime="+strconv.FormatInt(p.options.StepTime.Milliseconds(), 10)+"ms")
	if err != nil {
		return Rate{}, err
	}
	return ParseOutput(content)
}

// fio runs the program and returns what it prints. With --thread it stays one process, which can be killed as a whole.
func (p *Profiler) fio(ctx context.Context, folder string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, p.options.Program, append([]string{
		"--name=vicinity", "--filename=" + escape(filepath.Join(folder, dataFile)), "--size=" + strconv.FormatInt(p.options.FileSize, 10),
		"--direct=1", "--ioengine=libaio", "--iodepth=" + strconv.Itoa(depth), "--thread", "--output-format=json",
	}, args...)...)
	output, complaints := &bounded{most: maxOutput}, &bounded{most: 1 << 12}
	command.Dir, command.Stdout, command.Stderr = folder, output, complaints
	command.WaitDelay = time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// The kernel kills the child when the thread ends that started it, so that must not end before.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := command.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("fio did not end in time: %w", ctx.Err())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %s on this machine: install the package fio, or set diskProfile.fio.program: %w",
			p.options.Program, err)
	case err != nil:
		return nil, fmt.Errorf("fio: %w: %s", err, strings.TrimSpace(complaints.buffer.String()))
	}
	return output.buffer.Bytes(), nil
}

// escape keeps fio from taking a path with colons for several.
func escape(path string) string { return strings.ReplaceAll(path, ":", `\:`) }

// bounded keeps the beginning of what is written to it.
type bounded struct {
	buffer bytes.Buffer
	most   int
}

var _ io.Writer = (*bounded)(nil)

// Write implements io.Writer; it takes everything and keeps what fits.
func (b *bounded) Write(p []byte) (int, error) {
	b.buffer.Write(p[:min(len(p), max(0, b.most-b.buffer.Len()))])
	return len(p), nil
}
