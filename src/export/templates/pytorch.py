

class RandomData(Dataset):
    """Noise of the shape above, in the place of DATA."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(SEED + index)
        sample = torch.rand(SAMPLE_SHAPE, generator=generator)
        if PREDICTS_VALUES:
            return sample, torch.rand(N_OUTPUTS, generator=generator)
        return sample, torch.randint(N_OUTPUTS, (), generator=generator)


def make_dataset():
    """Yours goes here: for a folder of images, torchvision.datasets.ImageFolder(DATA, transform)."""
    return RandomData(math.ceil(2 * ACCUMULATE * BATCH_SIZE / (1 - VAL_SPLIT)))


def make_model():
    """Yours goes here: for the MODEL above, torchvision.models has the same names."""
    if len(SAMPLE_SHAPE) != 3:
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(SAMPLE_SHAPE), 32), nn.ReLU(), nn.Linear(32, N_OUTPUTS))
    return nn.Sequential(
        nn.Conv2d(SAMPLE_SHAPE[0], 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, N_OUTPUTS))


def make_optimizer(model):
    if OPTIMIZER == 'adamw':
        return torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=WEIGHT_DECAY)
    return torch.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)


def make_loader(dataset, training, device):
    options = {}
    if WORKERS > 0:  # without workers PyTorch takes neither
        options = {'prefetch_factor': PREFETCH, 'persistent_workers': PERSISTENT_WORKERS}
    return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=training and SHUFFLE, drop_last=training,
                      num_workers=WORKERS, pin_memory=PINNED and device.type == 'cuda', **options)


def augment(samples):
    """Of images from 0 to 1, before they are normalised."""
    if samples.dim() == 4 and AUGMENT_FLIP:
        flipped = torch.rand(len(samples), device=samples.device) < 0.5
        samples = torch.where(flipped[:, None, None, None], samples.flip(-1), samples)
    if samples.dim() == 4 and AUGMENT_BRIGHTNESS > 0:
        factor = 1 + AUGMENT_BRIGHTNESS * (2 * torch.rand(len(samples), 1, 1, 1, device=samples.device) - 1)
        samples = (samples * factor.clamp(min=0)).clamp(max=1)
    return samples


class Training:
    def __init__(self, device):
        self.device = device
        self.amp = AMP and device.type == 'cuda'
        self.model = make_model().to(device)
        if self.amp and len(SAMPLE_SHAPE) == 3:
            self.model = self.model.to(memory_format=torch.channels_last)
        self.optimizer = make_optimizer(self.model)
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.amp)
        self.train_loss = nn.MSELoss() if PREDICTS_VALUES else nn.CrossEntropyLoss(label_smoothing=LABEL_SMOOTHING)
        self.loss = nn.MSELoss() if PREDICTS_VALUES else nn.CrossEntropyLoss()
        self.updates = 0

    def move(self, batch):
        return [part.to(self.device, non_blocking=True) for part in batch]

    def forward(self, samples):
        with torch.autocast(self.device.type, torch.float16 if self.amp else torch.bfloat16, enabled=self.amp):
            if CHECKPOINTING and self.model.training and isinstance(self.model, nn.Sequential):
                return checkpoint_sequential(self.model, 2, samples, use_reentrant=False)
            return self.model(samples)

    def update(self, batches, lr):
        """One step of the optimizer, on the gradients of some batches."""
        total = 0.0
        for group in self.optimizer.param_groups:
            group['lr'] = lr
        for samples, targets in batches:
            samples, targets = self.move((samples, targets))
            output = self.forward(augment(samples))
            loss = self.train_loss(output.float(), targets) / len(batches)
            self.scaler.scale(loss).backward()
            total += loss.detach()
        if CLIP_NORM > 0:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.updates += 1
        return total

    def epoch(self, loader, most_updates):
        """The mean loss, and samples per second."""
        steps = math.ceil(len(loader) / ACCUMULATE)
        begin, losses, n_samples, batches = time.perf_counter(), [], 0, []
        self.model.train()
        for index, batch in enumerate(loader):
            batches.append(batch)
            if len(batches) < ACCUMULATE and index + 1 < len(loader):
                continue
            losses.append(self.update(batches, learning_rate(self.updates, steps)))
            n_samples += sum(len(samples) for samples, targets in batches)
            batches = []
            if most_updates and self.updates >= most_updates:
                break
        loss = float(sum(losses) / max(len(losses), 1))
        return loss, n_samples / (time.perf_counter() - begin)

    @torch.no_grad()
    def validate(self, loader):
        """The mean loss, and the share of classes that is right."""
        loss, right, n_samples = 0.0, 0, 0
        self.model.eval()
        for samples, targets in map(self.move, loader):
            output = self.forward(samples).float()
            loss += float(self.loss(output, targets)) * len(samples)
            if not PREDICTS_VALUES:
                right += int((output.argmax(1) == targets).sum())
            n_samples += len(samples)
        return loss / max(n_samples, 1), right / max(n_samples, 1)


def prepare(device):
    torch.manual_seed(SEED)
    torch.backends.cudnn.benchmark = CUDNN_BENCHMARK
    torch.use_deterministic_algorithms(DETERMINISTIC)
    if device.type == 'cuda' and VRAM_BUDGET > 0:
        whole = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(VRAM_BUDGET / whole, 1.0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=0, help='end after so many updates')
    parser.add_argument('--save', help='file for the weights')
    options = parser.parse_args()
    if DETERMINISTIC:
        os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    prepare(device)
    dataset = make_dataset()
    n_validation = int(VAL_SPLIT * len(dataset))
    training_part, validation_part = random_split(dataset, [len(dataset) - n_validation, n_validation],
                                                  torch.Generator().manual_seed(SEED))
    training_loader = make_loader(training_part, True, device)
    validation_loader = make_loader(validation_part, False, device)
    training = Training(device)
    for epoch in range(EPOCHS):
        loss, rate = training.epoch(training_loader, options.steps)
        line = f'epoch {epoch + 1}/{EPOCHS}  loss {loss:.4f}  {rate:.1f} samples/s'
        if n_validation:
            loss, accuracy = training.validate(validation_loader)
            line += f'  validation loss {loss:.4f}' + ('' if PREDICTS_VALUES else f'  accuracy {accuracy:.2%}')
        print(line, flush=True)
        if options.steps and training.updates >= options.steps:
            break
    if options.save:
        torch.save(training.model.state_dict(), options.save)


if __name__ == '__main__':
    main()
