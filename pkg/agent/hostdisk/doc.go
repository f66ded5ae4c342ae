// Package hostdisk reads what Linux tells of a machine's disks: which there are (/sys/block), what is mounted where
// (/proc/PID/mountinfo), what they have done since the start (/proc/diskstats), how long processes waited for them
// (/proc/pressure/io), and which pods there are and what they have done (control groups of version 2). Every function
// takes an fs.FS whose root is that of the machine, such as os.DirFS("/"), and has recorded trees for its tests.
//
// # Which block devices are disks
//
// Those that have a size, are not hidden, and are made of nothing else. Loop devices, RAM disks, compressed RAM, floppy
// and optical drives are none. Device-mapper and md devices are not disks but resolve to the disks that they are made
// of, through any number of layers; partitions resolve to their disk.
//
// # What disks are called
//
// Vendor and Model are never empty. SCSI and SATA disks tell both. NVMe disks tell one text, of which the first word is
// the vendor if there are several ("INTEL SSDPE2KX010T8"), else the vendor is "NVMe". Virtual disks tell nothing of use:
// they are "virtio" "virtio-blk" and "Xen" "xvd". Cards are "MMC" and the card's name. Whatever is left is "unknown".
// An ID is made of model and serial number, so that it stays with the disk when the kernel's names change; a disk without
// a serial number is called by its kernel name. Where several disks would get one ID (the namespaces of one NVMe disk),
// the kernel name is appended to each.
//
// What the kernel does not tell in the form that is expected here is an error that quotes the line; a disk that vanishes
// while it is read is left out.
//
// The package uses the standard library only.
package hostdisk
