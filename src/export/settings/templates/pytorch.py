

def count_ranks():
    """The number of processes that torchrun has started."""
    return int(os.environ.get('WORLD_SIZE', '1'))


def ignored_target():
    """The class id of a target that the loss ignores."""
    return 255 if PREDICTS_PIXELS else -100


def focal_loss(output, targets, weights):
    """The cross entropy of each sample or pixel times (1 - p)^FOCAL, averaged by the weights of their classes."""
    losses = nn.functional.cross_entropy(output, targets, reduction='none', ignore_index=ignored_target())
    counted = targets != ignored_target()
    weights = counted.float() if weights is None else weights[targets.where(counted, 0)] * counted
    factors = (-torch.expm1(-losses)).clamp(min=1e-12) ** FOCAL
    return (weights * factors * losses).sum() / weights.sum().clamp(min=1e-12)


def label_loss(output, targets, weights=None, smoothing=0.0, focal=0.0):
    """BCEWithLogitsLoss over the labels; a label of NaN is not known and has no loss. With focal, each half of the loss
    is multiplied by the share by which the label is wrong, to this power."""
    known = ~targets.isnan()
    targets = targets.nan_to_num() * (1 - smoothing) + smoothing / 2
    if focal == 0:
        losses = nn.BCEWithLogitsLoss(pos_weight=weights, reduction='none')(output, targets)
    else:
        wrong = output.sigmoid().clamp(1e-12, 1 - 1e-7)
        positive = targets * nn.functional.softplus(-output) * (1 - wrong) ** focal
        losses = positive * (1 if weights is None else weights) + (1 - targets) * nn.functional.softplus(output) * wrong ** focal
    return (losses * known).mean()


def dice_loss(output, targets):
    """The mean over the classes of 1 less the Dice coefficient in the batch; 0 for a class without a pixel."""
    counted = (targets != ignored_target()).unsqueeze(1)
    truth = nn.functional.one_hot(targets.where(targets != ignored_target(), 0), output.shape[1]).movedim(-1, 1) * counted
    shares = output.softmax(1) * counted
    axes = [0, *range(2, output.dim())]
    both, whole, there = (shares * truth).sum(axes), (shares + truth).sum(axes), truth.sum(axes) > 0
    return ((1 - 2 * both / whole.clamp(min=1e-7)) * there).mean()


class RandomData(Dataset):
    """Noise of the shape above, which stands for DATA."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(SEED + index)
        sample = torch.rand(SAMPLE_SHAPE, generator=generator)
        if PREDICTS_VALUES:
            return sample, torch.rand(N_OUTPUTS, generator=generator)
        if PREDICTS_LABELS:  # 1 or 0 for each label, or NaN where it is not known
            return sample, torch.randint(2, (N_OUTPUTS,), generator=generator).float()
        if PREDICTS_PIXELS:  # a class for each pixel; 255 does not count
            return sample, torch.randint(N_OUTPUTS, SAMPLE_SHAPE[1:], generator=generator)
        return sample, torch.randint(N_OUTPUTS, (), generator=generator)


def make_dataset():
    """Replace this by your data set: for a folder of images, torchvision.datasets.ImageFolder(DATA, transform)."""
    return RandomData(math.ceil(2 * count_ranks() * ACCUMULATE * BATCH_SIZE / (1 - VAL_SPLIT) / (1 - TEST_SPLIT)))


def make_model():
    """Replace this by your network: torchvision.models has MODEL under the same name, torchvision.models.segmentation
    where pixels have classes (its result is a dict with the logits in ['out'])."""
    if PREDICTS_PIXELS:
        return nn.Sequential(
            nn.Conv2d(SAMPLE_SHAPE[0], 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, N_OUTPUTS, 1))
    if len(SAMPLE_SHAPE) != 3:
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(SAMPLE_SHAPE), 32), nn.ReLU(), nn.Linear(32, N_OUTPUTS))
    return nn.Sequential(
        nn.Conv2d(SAMPLE_SHAPE[0], 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, N_OUTPUTS))


class Lion(torch.optim.Optimizer):
    """Lion (Chen et al. 2023): each step is the sign of the momentum mixed with the gradient."""

    def __init__(self, parameters, lr, betas, weight_decay):
        super().__init__(parameters, {'lr': lr, 'betas': betas, 'weight_decay': weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group['betas']
            for parameter in group['params']:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state['momentum'] = torch.zeros_like(parameter)
                direction = torch.lerp(parameter.grad, state['momentum'], beta1).sign_()
                parameter.mul_(1 - group['lr'] * group['weight_decay']).sub_(direction, alpha=group['lr'])
                state['momentum'].lerp_(parameter.grad, 1 - beta2)


def parameter_groups(model):
    """Weight decay may leave out biases, the parameters of normalisations, and a transformer's token and positions."""
    parameters = dict(model.named_parameters())
    if WEIGHT_DECAY_NORMS:
        return list(parameters.values())
    apart = ('cls_token', 'class_token', 'pos_embed', 'pos_embedding', 'layer_scale')
    vectors = {name for name, value in parameters.items() if value.ndim <= 1 or name.endswith(apart)}
    return [{'params': [value for name, value in parameters.items() if name not in vectors]},
            {'params': [parameters[name] for name in vectors], 'weight_decay': 0.0}]


def make_optimizer(model):
    if OPTIMIZER == 'adamw':
        return torch.optim.AdamW(parameter_groups(model), lr=LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=WEIGHT_DECAY)
    if OPTIMIZER == 'adam':
        return torch.optim.Adam(parameter_groups(model), lr=LR, betas=(0.9, 0.999), eps=1e-8, weight_decay=WEIGHT_DECAY)
    if OPTIMIZER == 'rmsprop':
        return torch.optim.RMSprop(parameter_groups(model), lr=LR, alpha=0.99, eps=1e-8, weight_decay=WEIGHT_DECAY, momentum=MOMENTUM)
    if OPTIMIZER == 'lion':
        return Lion(parameter_groups(model), lr=LR, betas=(0.9, 0.99), weight_decay=WEIGHT_DECAY)
    return torch.optim.SGD(parameter_groups(model), lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)


def make_loader(dataset, training, device):
    """Each process gets its own share of the training samples."""
    options, sampler = {}, None
    if training and count_ranks() > 1:
        sampler = DistributedSampler(dataset, shuffle=SHUFFLE, seed=SEED % 2 ** 32, drop_last=True)
    if WORKERS > 0:  # without workers PyTorch accepts neither option
        options = {'prefetch_factor': PREFETCH, 'persistent_workers': PERSISTENT_WORKERS}
    return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=training and SHUFFLE and sampler is None,
                      sampler=sampler, drop_last=training, num_workers=WORKERS, pin_memory=PINNED and device.type == 'cuda', **options)


def make_augmentation():
    """The random changes of a training image with values from 0 to 1. They are faster in the workers, as the transform
    of your dataset. For sequences there is only noise, which augment adds."""
    changed = AUGMENT_FLIP or AUGMENT_FLIP_VERTICAL or any(
        (AUGMENT_CROP, AUGMENT_SHIFT, AUGMENT_ROTATE, AUGMENT_BRIGHTNESS, AUGMENT_CONTRAST, AUGMENT_SATURATION,
         AUGMENT_HUE, AUGMENT_ERASE))
    if len(SAMPLE_SHAPE) != 3 or not changed:
        return None
    from torchvision import tv_tensors
    from torchvision.transforms import v2
    size, bilinear = list(SAMPLE_SHAPE[1:]), v2.InterpolationMode.BILINEAR
    outside = {tv_tensors.Image: 0, tv_tensors.Mask: ignored_target()} if PREDICTS_PIXELS else 0
    padding = {'zero': 'constant', 'reflect': 'reflect'}[AUGMENT_PAD]
    steps = []
    if AUGMENT_CROP > 0:
        ratio = (1 / AUGMENT_CROP_RATIO, AUGMENT_CROP_RATIO)
        steps.append(v2.RandomResizedCrop(size, scale=(AUGMENT_CROP, 1.0), ratio=ratio, antialias=True))
    if AUGMENT_SHIFT > 0:
        steps.append(v2.RandomCrop(size, padding=AUGMENT_SHIFT, padding_mode=padding, fill=outside))
    if AUGMENT_ROTATE > 0:  # pixels from outside the image are black
        steps.append(v2.RandomRotation(AUGMENT_ROTATE, interpolation=bilinear, fill=outside))
    if AUGMENT_FLIP:
        steps.append(v2.RandomHorizontalFlip())
    if AUGMENT_FLIP_VERTICAL:
        steps.append(v2.RandomVerticalFlip())
    # one ColorJitter each, in this order: a common one would draw a random order
    if AUGMENT_BRIGHTNESS > 0:
        steps.append(v2.ColorJitter(brightness=AUGMENT_BRIGHTNESS))
    if AUGMENT_CONTRAST > 0:
        steps.append(v2.ColorJitter(contrast=AUGMENT_CONTRAST))
    if AUGMENT_SATURATION > 0:
        steps.append(v2.ColorJitter(saturation=AUGMENT_SATURATION))
    if AUGMENT_HUE > 0:
        steps.append(v2.ColorJitter(hue=AUGMENT_HUE))
    # normalise your images here, after the colours and before erasing
    if AUGMENT_ERASE > 0:
        steps.append(v2.RandomErasing(AUGMENT_ERASE))
    return v2.Compose(steps)


def make_mix():
    """Mixes the images of a batch, and their classes, with each other, after all other changes."""
    if PREDICTS_VALUES or PREDICTS_PIXELS or len(SAMPLE_SHAPE) != 3 or not (AUGMENT_MIXUP or AUGMENT_CUTMIX):
        return None
    from torchvision.transforms import v2
    mixes = []
    if AUGMENT_MIXUP > 0:
        mixes.append(v2.MixUp(alpha=AUGMENT_MIXUP, num_classes=BATCH_SIZE if PREDICTS_LABELS else N_OUTPUTS))
    if AUGMENT_CUTMIX > 0:
        mixes.append(v2.CutMix(alpha=AUGMENT_CUTMIX, num_classes=BATCH_SIZE if PREDICTS_LABELS else N_OUTPUTS))
    return v2.RandomChoice(mixes)


def mix_labels(mix, samples, targets):
    """torchvision mixes one class of each sample: here the place in the batch, which gives the share of each sample. A
    label that is not known in the other sample stays as it is."""
    samples, shares = mix(samples, torch.arange(len(samples), device=samples.device))
    shares = shares.to(targets.dtype)
    unknown = (shares > 0).to(targets.dtype) @ targets.isnan().to(targets.dtype) > 0
    return samples, targets.where(unknown, shares @ targets.nan_to_num())


def augment(samples, targets, transform):
    if transform is not None and PREDICTS_PIXELS:  # a mask moves with its image
        from torchvision import tv_tensors
        pairs = [transform(tv_tensors.Image(sample), tv_tensors.Mask(target)) for sample, target in zip(samples, targets)]
        samples, targets = (torch.stack([torch.as_tensor(pair[i]) for pair in pairs]) for i in range(2))
    elif transform is not None:  # each sample draws its own changes
        samples = torch.stack([transform(sample) for sample in samples])
    if AUGMENT_NOISE > 0:  # added to normalised values
        samples = samples + AUGMENT_NOISE * torch.randn_like(samples)
    return samples, targets


class Checkpointed(nn.Sequential):
    """Computes the activations of its two halves a second time instead of keeping them."""

    def forward(self, samples):
        if not self.training:
            return super().forward(samples)
        return checkpoint_sequential(nn.Sequential(*self), 2, samples, use_reentrant=False)


class Training:
    def __init__(self, device):
        self.device = device
        self.amp = AMP and device.type == 'cuda'
        self.network = make_model()
        if CHECKPOINTING and isinstance(self.network, nn.Sequential):
            self.network = Checkpointed(*self.network)
        self.network = self.network.to(device)
        if self.amp and len(SAMPLE_SHAPE) == 3:
            self.network = self.network.to(memory_format=torch.channels_last)
        self.model = DistributedDataParallel(self.network) if count_ranks() > 1 else self.network
        if COMPILE:
            self.model = torch.compile(self.model)
        self.optimizer = make_optimizer(self.model)
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.amp)
        self.class_weights = CLASS_WEIGHTS and torch.tensor(CLASS_WEIGHTS, dtype=torch.float32, device=device)
        if PREDICTS_VALUES:
            self.loss = nn.MSELoss()
        elif PREDICTS_LABELS:  # CLASS_WEIGHTS are those of positive labels, in training only
            self.loss = label_loss
        else:
            self.loss = nn.CrossEntropyLoss(ignore_index=ignored_target())
        self.augmentation = make_augmentation()
        self.mix = make_mix()
        self.updates = 0

    def move(self, batch):
        return [part.to(self.device, non_blocking=True) for part in batch]

    def forward(self, network, samples):
        with torch.autocast(self.device.type, torch.float16 if self.amp else torch.bfloat16, enabled=self.amp):
            return network(samples)

    def train_loss(self, output, targets):
        if PREDICTS_VALUES:
            return self.loss(output, targets)
        if PREDICTS_LABELS:
            return label_loss(output, targets, self.class_weights, LABEL_SMOOTHING, FOCAL)
        if FOCAL or (DICE and PREDICTS_PIXELS):
            output = output.float()
        if FOCAL:
            loss = focal_loss(output, targets, self.class_weights)
        else:
            loss = nn.functional.cross_entropy(output, targets, self.class_weights, ignore_index=ignored_target(), label_smoothing=LABEL_SMOOTHING)
        if DICE and PREDICTS_PIXELS:
            loss = (1 - DICE) * loss + DICE * dice_loss(output, targets)
        if self.class_weights is None or not targets.is_floating_point():
            return loss
        # cross_entropy divides mixed targets by the number of samples; this divides by their weights
        return loss * len(targets) / (targets @ self.class_weights).sum()

    def update(self, batches, lr):
        """One step of the optimizer, on the accumulated gradients of some batches."""
        total = 0.0
        for group in self.optimizer.param_groups:
            group['lr'] = lr
        for samples, targets in batches:
            samples, targets = self.move((samples, targets))
            samples, targets = augment(samples, targets, self.augmentation)
            if self.mix is not None:  # targets become probabilities
                samples, targets = mix_labels(self.mix, samples, targets) if PREDICTS_LABELS else self.mix(samples, targets)
            output = self.forward(self.model, samples)
            loss = self.train_loss(output.float(), targets) / len(batches)
            self.scaler.scale(loss).backward()
            total += loss.detach()
        if CLIP_NORM > 0 or CLIP_VALUE > 0:
            self.scaler.unscale_(self.optimizer)
        if CLIP_NORM > 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        if CLIP_VALUE > 0:
            nn.utils.clip_grad_value_(self.model.parameters(), CLIP_VALUE)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.updates += 1
        return total

    def epoch(self, loader, most_updates):
        """Trains one epoch; returns the mean loss and the samples per second."""
        steps = math.ceil(len(loader) / ACCUMULATE)
        begin, losses, n_samples, batches = time.perf_counter(), [], 0, []
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(self.updates)
        self.model.train()
        for index, batch in enumerate(loader):
            batches.append(batch)
            if len(batches) < ACCUMULATE and index + 1 < len(loader):
                continue
            losses.append(self.update(batches, learning_rate(self.updates, steps)))
            n_samples += count_ranks() * sum(len(samples) for samples, targets in batches)
            batches = []
            if most_updates and self.updates >= most_updates:
                break
        loss = float(sum(losses) / max(len(losses), 1))
        return loss, n_samples / (time.perf_counter() - begin)

    @torch.no_grad()
    def validate(self, loader):
        """Returns the mean loss and the accuracy; of labels the share of the known ones that are right."""
        loss, right, n_samples = 0.0, 0, 0
        self.network.eval()
        for samples, targets in map(self.move, loader):
            output = self.forward(self.network, samples).float()
            loss += float(self.loss(output, targets)) * len(samples)
            if PREDICTS_LABELS:
                known = ~targets.isnan()
                right += len(samples) * float(((output.sigmoid() >= 0.5) == (targets >= 0.5))[known].float().mean())
            elif not PREDICTS_VALUES:
                counted = targets != ignored_target()
                right += len(samples) * float((output.argmax(1) == targets)[counted].float().mean())
            n_samples += len(samples)
        return loss / max(n_samples, 1), right / max(n_samples, 1)


def choose_device():
    """Each process of torchrun gets the GPU of its number, and they exchange gradients."""
    local = int(os.environ.get('LOCAL_RANK', '0'))
    if torch.cuda.is_available():
        torch.cuda.set_device(local)
    device = torch.device('cuda', local) if torch.cuda.is_available() else torch.device('cpu')
    if count_ranks() > 1:
        torch.distributed.init_process_group('nccl' if device.type == 'cuda' else 'gloo')
    return device


def prepare(device):
    torch.manual_seed(SEED + int(os.environ.get('RANK', '0')))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = TF32
    torch.backends.cudnn.benchmark = CUDNN_BENCHMARK
    torch.use_deterministic_algorithms(DETERMINISTIC)
    if device.type == 'cuda' and VRAM_BUDGET > 0:
        whole = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(VRAM_BUDGET / whole, 1.0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=0, help='stop after this number of updates')
    parser.add_argument('--save', help='file for the weights')
    options = parser.parse_args()
    if DETERMINISTIC:
        os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')
    device, first = choose_device(), int(os.environ.get('RANK', '0')) == 0
    prepare(device)
    dataset = make_dataset()
    n_test = int(TEST_SPLIT * len(dataset))
    n_validation = int(VAL_SPLIT * (len(dataset) - n_test))
    training_part, validation_part, test_part = random_split(
        dataset, [len(dataset) - n_validation - n_test, n_validation, n_test], torch.Generator().manual_seed(SEED))
    training_loader = make_loader(training_part, True, device)
    validation_loader = make_loader(validation_part, False, device)
    training = Training(device)
    for epoch in range(EPOCHS):
        loss, rate = training.epoch(training_loader, options.steps)
        line = f'epoch {epoch + 1}/{EPOCHS}  loss {loss:.4f}  {rate:.1f} samples/s'
        if n_validation:
            loss, accuracy = training.validate(validation_loader)
            line += f'  validation loss {loss:.4f}' + ('' if PREDICTS_VALUES else f'  accuracy {accuracy:.2%}')
        if first:
            print(line, flush=True)
        if options.steps and training.updates >= options.steps:
            break
    if n_test:  # of the last weights, which are the ones that this script has
        loss, accuracy = training.validate(make_loader(test_part, False, device))
        if first:
            print(f'test loss {loss:.4f}' + ('' if PREDICTS_VALUES else f'  accuracy {accuracy:.2%}'), flush=True)
    if options.save and first:
        torch.save(training.network.state_dict(), options.save)
    if count_ranks() > 1:
        torch.distributed.destroy_process_group()


if __name__ == '__main__':
    main()
