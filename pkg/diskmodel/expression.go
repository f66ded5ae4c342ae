package diskmodel

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"github.com/vicinity-scheduler/vicinity/pkg/blockio"
)

const (
	// CostLimit bounds the evaluation of an expression, in cel-go's units: about one for each operation. It takes
	// less than a millisecond; a plain formula costs some tens.
	CostLimit = 10_000
	// maxExpression bounds the length of an expression, in characters.
	maxExpression = 4 << 10
	// maxNesting bounds how deep expressions are nested.
	maxNesting = 50
)

// expression is a model written in CEL.
type expression struct {
	program cel.Program
}

var _ blockio.Model = (*expression)(nil)

// newExpression compiles an expression and tries it at the usual block sizes.
func newExpression(text string) (*expression, error) {
	if text == "" {
		return nil, errors.New("want an expression in a document of kind CEL, found none")
	}
	env, err := cel.NewEnv(
		cel.Variable("read", cel.DoubleType), cel.Variable("write", cel.DoubleType),
		cel.Variable("blockSize", cel.DoubleType),
		cel.Variable("readBlockSize", cel.DoubleType), cel.Variable("writeBlockSize", cel.DoubleType),
		// So that blockSize < 4096 needs no decimal point. Arithmetic has no such mercy.
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(maxNesting),
		ext.Math(),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("expression: %w", short(err))
	}
	if want := cel.MapType(cel.StringType, cel.DoubleType); !ast.OutputType().IsExactType(want) {
		return nil, fmt.Errorf("expression: want a result of type %s, such as {\"read\": read, \"write\": write * 2.0}, found %.100s",
			cel.FormatCELType(want), cel.FormatCELType(ast.OutputType()))
	}
	program, err := env.Program(ast, cel.CostLimit(CostLimit))
	if err != nil {
		return nil, fmt.Errorf("expression: %w", short(err))
	}
	e := &expression{program: program}
	return e, e.try()
}

// try evaluates the expression where pods are likely to: a mistake should be found when the document is loaded.
func (e *expression) try() error {
	for _, block := range []blockio.Bytes{512, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10} {
		for _, read := range []blockio.BytesPerSecond{0, 5 << 20, 1 << 30} {
			for _, write := range []blockio.BytesPerSecond{0, 5 << 20, 1 << 30} {
				if _, err := e.Normalize(blockio.Request{Read: read, Write: write, ReadBlock: block, WriteBlock: block}); err != nil {
					return fmt.Errorf("tried with read %d, write %d, blockSize %d: %w", read, write, block, err)
				}
			}
		}
	}
	return nil
}

// Normalize evaluates the expression.
func (e *expression) Normalize(r blockio.Request) (blockio.Demand, error) {
	value, _, err := e.program.Eval(map[string]any{
		"read": float64(r.Read), "write": float64(r.Write), "blockSize": float64(blockSize(r)),
		"readBlockSize": float64(r.ReadBlock), "writeBlockSize": float64(r.WriteBlock),
	})
	if err != nil {
		return blockio.Demand{}, fmt.Errorf("expression: %w", short(err))
	}
	native, err := value.ConvertToNative(reflect.TypeFor[map[string]float64]())
	if err != nil {
		return blockio.Demand{}, fmt.Errorf("expression: reading the result: %w", short(err))
	}
	result, _ := native.(map[string]float64) // the type was asked for
	bandwidth, err := toBandwidth(result)
	if err != nil {
		return blockio.Demand{}, fmt.Errorf("expression: %w", err)
	}
	return blockio.Demand{Bandwidth: bandwidth, IOPS: r.IOPS}, nil
}

// blockSize is the smaller one of the block sizes that matter.
func blockSize(r blockio.Request) blockio.Bytes {
	switch {
	case r.Write == 0:
		return r.ReadBlock
	case r.Read == 0:
		return r.WriteBlock
	default:
		return min(r.ReadBlock, r.WriteBlock)
	}
}

func toBandwidth(result map[string]float64) (blockio.Bandwidth, error) {
	read, hasRead := result["read"]
	write, hasWrite := result["write"]
	total, hasTotal := result["total"]
	if !hasTotal {
		total = read + write
	}
	for name := range result {
		if name != "read" && name != "write" && name != "total" {
			return blockio.Bandwidth{}, fmt.Errorf("want read, write and total in the result, found %.40q", name)
		}
	}
	if !hasRead || !hasWrite {
		return blockio.Bandwidth{}, errors.New("want read and write in the result, found one or none of them")
	}
	for _, term := range []struct {
		name  string
		value float64
	}{{"read", read}, {"write", write}, {"total", total}} {
		if !(term.value >= 0 && term.value < math.MaxInt64) { // false for NaN as well
			return blockio.Bandwidth{}, fmt.Errorf("%s: want a number from 0 to below 2^63, found %v", term.name, term.value)
		}
	}
	return blockio.Bandwidth{
		Read:  blockio.BytesPerSecond(math.Round(read)),
		Write: blockio.BytesPerSecond(math.Round(write)),
		Total: blockio.BytesPerSecond(math.Round(total)),
	}, nil
}
